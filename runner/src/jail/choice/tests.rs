//! Every combination that decides about a tier.

use super::*;

fn probe(jail: bool, jail_net: bool) -> SandboxProbe {
    let state = |works: bool| if works { Ok(()) } else { Err(ProbeFailure::Failed { text: "no".to_owned() }) };
    SandboxProbe { program: Some("/usr/bin/bwrap".into()), jail: state(jail), jail_net: state(jail_net) }
}

fn choose(sandbox: Option<SandboxTier>, sandbox_min: SandboxTier, answer: Option<SandboxTier>, sign_in: SignIn, probe: &SandboxProbe) -> String {
    let config = Config { sandbox, sandbox_min, ..Config::default() };
    match (ChoiceRequest { config: &config, answer, sign_in, probe }).choose() {
        SandboxChoice::Run(tier) => tier.to_string(),
        SandboxChoice::Unprotected(SandboxFinding { problem, .. }) => {
            assert!(problem.starts_with("A jail does not work here: bubblewrap"), "{problem}");
            "unprotected".to_owned()
        }
        SandboxChoice::Unavailable(_) => "unavailable".to_owned(),
        SandboxChoice::Undecided { choices, .. } => {
            let choices: Vec<&str> = choices.iter().map(|tier| tier.as_str()).collect();
            format!("choose {}", choices.join(" or "))
        }
    }
}

#[test]
fn default_is_a_jail_where_it_and_the_sign_in_work() {
    use SignIn::{Elsewhere, Environment};
    let default = |sign_in, probe| choose(None, SandboxTier::None, None, sign_in, &probe);
    assert_eq!(default(Environment, probe(true, true)), "jail");
    assert_eq!(default(Elsewhere, probe(true, true)), "choose none or jail or jail+net");
    assert_eq!(default(Elsewhere, probe(true, false)), "choose none or jail");
    assert_eq!(default(Environment, probe(false, false)), "unprotected");
    assert_eq!(default(Elsewhere, SandboxProbe::without_program()), "unprotected");
}

#[test]
fn wanted_tier_never_becomes_a_weaker_one() {
    for wanted in [SandboxTier::Jail, SandboxTier::JailNet] {
        for (works, chosen) in [(true, wanted.as_str()), (false, "unavailable")] {
            let probe = probe(works, works);
            assert_eq!(choose(Some(wanted), SandboxTier::None, None, SignIn::Elsewhere, &probe), chosen, "by the configuration");
            assert_eq!(choose(None, wanted, None, SignIn::Elsewhere, &probe), chosen, "by the minimum");
            assert_eq!(choose(None, SandboxTier::None, Some(wanted), SignIn::Elsewhere, &probe), chosen, "by the answer");
        }
    }
    assert_eq!(choose(Some(SandboxTier::JailNet), SandboxTier::None, None, SignIn::Environment, &probe(true, false)), "unavailable");
}

#[test]
fn minimum_overrules_a_weaker_answer() {
    let answer = Some(SandboxTier::None);
    assert_eq!(choose(None, SandboxTier::None, answer, SignIn::Elsewhere, &probe(true, true)), "none");
    assert_eq!(choose(None, SandboxTier::Jail, answer, SignIn::Elsewhere, &probe(true, true)), "jail");
    assert_eq!(choose(None, SandboxTier::Jail, answer, SignIn::Elsewhere, &probe(false, false)), "unavailable");
}

#[test]
fn configuration_overrules_the_answer() {
    assert_eq!(choose(Some(SandboxTier::None), SandboxTier::None, Some(SandboxTier::Jail), SignIn::Elsewhere, &probe(true, true)), "none");
}

#[test]
fn status_names_the_cure_and_the_choices() {
    let probe = SandboxProbe::without_program();
    let status = |sandbox| {
        let config = Config { sandbox, ..Config::default() };
        ChoiceRequest { config: &config, answer: None, sign_in: SignIn::Elsewhere, probe: &probe }.choose().status()
    };
    let unprotected = status(None);
    assert_eq!(unprotected.tier, Some(SandboxTier::None));
    assert!(unprotected.detail.unwrap().contains("apt install bubblewrap"));
    let unavailable = status(Some(SandboxTier::Jail));
    assert_eq!((unavailable.tier, unavailable.choices.len()), (None, 0));
    assert!(unavailable.detail.unwrap().contains("apt install bubblewrap"));
}

#[test]
fn person_of_a_cloud_provider_is_not_sent_to_another_sign_in() {
    let config = Config::default();
    let detail = |sign_in| {
        let choice = ChoiceRequest { config: &config, answer: None, sign_in, probe: &probe(true, true) }.choose();
        choice.status().detail.unwrap()
    };
    let (provider, elsewhere) = (detail(SignIn::Provider), detail(SignIn::Elsewhere));
    assert!(provider.contains("Choose whether agents run in a jail") && provider.contains("~/.aws"), "{provider}");
    assert!(!provider.contains("setup-token") && elsewhere.contains("setup-token"), "{provider}\n{elsewhere}");
}
