//! Which keys are taken, also when a job fails or panics.

use super::*;

fn key(number: u64) -> JobKey {
    JobKey::Task(TaskId::new(number))
}

fn busy(jobs: &Jobs) -> Vec<&str> {
    jobs.busy_tasks().iter().map(TaskId::as_str).collect()
}

#[tokio::test(start_paused = true)]
async fn panicked_job_keeps_its_key_for_a_pause() {
    let mut jobs = Jobs::default();
    let started = tokio::time::Instant::now();
    let (done, wait) = tokio::sync::oneshot::channel::<()>();
    jobs.start(key(1), async { panic!("a defect") });
    jobs.start(key(2), async move { wait.await.map_err(|error| error.to_string()) });
    assert_eq!(busy(&jobs), ["TASK-001", "TASK-002"]);
    done.send(()).unwrap();
    assert_eq!(jobs.join_next().await, key(2), "the panic does not end the other job");
    assert_eq!(busy(&jobs), ["TASK-001"]);
    assert_eq!(jobs.join_next().await, key(1));
    assert!(started.elapsed() >= ERROR_PAUSE);
    assert!(jobs.is_idle());
}

#[tokio::test(start_paused = true)]
async fn failed_job_keeps_its_key_for_a_pause() {
    let mut jobs = Jobs::default();
    let started = tokio::time::Instant::now();
    jobs.start(JobKey::StartCheck, async { Err("no".to_owned()) });
    assert_eq!(jobs.join_next().await, JobKey::StartCheck);
    assert!(started.elapsed() >= ERROR_PAUSE);
}

#[tokio::test]
async fn running_key_starts_no_second_job() {
    let mut jobs = Jobs::default();
    jobs.start(key(1), pending());
    jobs.start(key(1), async { Ok(()) });
    assert_eq!(jobs.set.len(), 1);
    jobs.start(JobKey::BranchCheck(TaskId::new(1)), async { Ok(()) });
    assert_eq!(jobs.join_next().await, JobKey::BranchCheck(TaskId::new(1)));
    assert_eq!(busy(&jobs), ["TASK-001"]);
}

/// Some of them may be merged before the job has sent back another.
#[tokio::test]
async fn merge_of_several_tasks_takes_all_of_them_until_it_ends() {
    let mut jobs = Jobs::default();
    let (done, wait) = tokio::sync::oneshot::channel::<()>();
    jobs.start(JobKey::Merge([1, 2].map(TaskId::new).to_vec()), async move { wait.await.map_err(|error| error.to_string()) });
    assert_eq!(busy(&jobs), ["TASK-001", "TASK-002"]);
    done.send(()).unwrap();
    jobs.join_next().await;
    assert!(jobs.busy_tasks().is_empty());
}
