//! Messages of bubblewrap in different surroundings, and a probe of this machine.

use super::*;

const REFUSED: &str = "bwrap: setting up uid map: Permission denied\n";
const NO_NETWORK: &str = "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted\n";
const PLAIN: Surroundings = Surroundings { is_container: false, has_apparmor_switch: false };
const UBUNTU: Surroundings = Surroundings { is_container: false, has_apparmor_switch: true };
const DOCKER: Surroundings = Surroundings { is_container: true, has_apparmor_switch: false };

#[test]
fn failure_names_the_cure_of_its_surroundings() {
    for (stderr, surroundings, cure) in [
        (REFUSED, UBUNTU, "apparmor_parser"),
        (NO_NETWORK, UBUNTU, "userns,"),
        ("bwrap: No permissions to create new namespace, likely because …", DOCKER, "--security-opt seccomp=unconfined"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", DOCKER, "\"sandbox\": \"none\""),
        (REFUSED, PLAIN, "kernel.unprivileged_userns_clone=1"),
        ("bwrap: Unknown option --unshare-cgroup-try", UBUNTU, "Update it"),
    ] {
        let failure = classify(stderr, surroundings);
        assert!(failure.cure().contains(cure) && failure.to_string().contains(stderr.trim()), "{failure:?}");
    }
    assert!(ProbeFailure::NotInstalled.cure().contains("apt install bubblewrap"));
}

#[test]
fn network_tier_needs_the_jail_as_well() {
    let failed = || Err(ProbeFailure::Failed { text: "x".to_owned() });
    let probe = |jail, jail_net| SandboxProbe { program: Some("/usr/bin/bwrap".into()), jail, jail_net };
    assert!(probe(Ok(()), failed()).check(SandboxTier::Jail).is_ok());
    assert!(probe(Ok(()), failed()).check(SandboxTier::JailNet).is_err());
    assert!(probe(failed(), Ok(())).check(SandboxTier::JailNet).is_err());
    assert!(SandboxProbe::without_program().check(SandboxTier::None).is_ok());
}

/// Fails where bubblewrap cannot run, because the other tests of the jail would prove nothing there.
#[tokio::test]
async fn every_tier_works_on_this_machine() {
    let probe = SandboxProbe::run().await;
    for tier in SandboxTier::ALL {
        if let Err(failure) = probe.check(*tier) {
            panic!("the tests of the jail need \"{tier}\": {failure}");
        }
    }
}
