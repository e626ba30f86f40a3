//! Which models agents may use in which role. An agent names its model itself, so the list prevents mistakes and not lies.

use serde::{Deserialize, Serialize};

use super::class::AgentClass;
use super::lead::LeadRole;
use crate::refusal::category::refusals;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// A role with a list of models: the lead role of a lead, and the class of other agents.
    ModelRole, "role with a list of models" {
        General = "general",
        Commander = "commander",
        ZoneLead = "zone_lead",
        Oracle = "oracle",
        Recon = "recon",
        Coder = "coder",
        Builder = "builder",
    }
}

impl ModelRole {
    pub const fn of(class: AgentClass, lead: LeadRole) -> Self {
        match (class, lead) {
            (AgentClass::Lead, LeadRole::General) => Self::General,
            (AgentClass::Lead, LeadRole::Commander) => Self::Commander,
            (AgentClass::Lead, LeadRole::ZoneLead) => Self::ZoneLead,
            (AgentClass::Oracle, _) => Self::Oracle,
            (AgentClass::Recon, _) => Self::Recon,
            (AgentClass::Coder, _) => Self::Coder,
            (AgentClass::Builder, _) => Self::Builder,
        }
    }
}

/// The models that external agents may have in each role. `None` stands for any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelRestrictions {
    pub general: Option<Vec<String>>,
    pub commander: Option<Vec<String>>,
    pub zone_lead: Option<Vec<String>>,
    pub oracle: Option<Vec<String>>,
    pub recon: Option<Vec<String>>,
    pub coder: Option<Vec<String>>,
    pub builder: Option<Vec<String>>,
}

impl Default for ModelRestrictions {
    fn default() -> Self {
        // Decisions and changes of the code need judgement.
        let able = || Some(["opus", "sonnet", "gemini pro"].map(str::to_owned).to_vec());
        Self { general: None, commander: able(), zone_lead: able(), oracle: None, recon: None, coder: able(), builder: None }
    }
}

impl ModelRestrictions {
    /// The models of a role. `None` stands for any.
    pub fn of(&self, role: ModelRole) -> Option<&[String]> {
        match role {
            ModelRole::General => &self.general,
            ModelRole::Commander => &self.commander,
            ModelRole::ZoneLead => &self.zone_lead,
            ModelRole::Oracle => &self.oracle,
            ModelRole::Recon => &self.recon,
            ModelRole::Coder => &self.coder,
            ModelRole::Builder => &self.builder,
        }
        .as_deref()
    }

    /// Refuses a model that is not listed for a role. A model is listed if its name contains all words of an entry, in any case.
    ///
    /// # Errors
    /// When the role has a list, and no entry fits.
    pub fn require(&self, role: ModelRole, model: &str) -> Result<(), ModelRefusal> {
        let Some(allowed) = self.of(role) else { return Ok(()) };
        let name = model.to_lowercase();
        let fits = |entry: &String| entry.split_whitespace().all(|word| name.contains(&word.to_lowercase()));
        if allowed.iter().any(fits) {
            return Ok(());
        }
        Err(ModelRefusal::NotAllowed { model: model.to_owned(), role, allowed: allowed.to_vec() })
    }

    /// Returns a role whose list is empty, or has an entry without a word, which would fit every model.
    pub fn invalid(&self) -> Option<ModelRole> {
        let is_invalid = |list: &[String]| list.is_empty() || list.iter().any(|entry| entry.trim().is_empty());
        ModelRole::ALL.iter().copied().find(|role| self.of(*role).is_some_and(is_invalid))
    }
}

refusals! {
    /// Why an agent may not have a role with its model.
    ModelRefusal {
        #[error("{model} is not a model for the role {role}; allowed are {}", allowed.join(", "))]
        NotAllowed { model: String, role: ModelRole, allowed: Vec<String> } => Forbidden "model-not-allowed",
    }
}

impl ModelRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NotAllowed { role, .. } => {
                format!(
                    "Register with one of these models, or in another role. The human changes the list with model_restrictions.{role} in the configuration."
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_fits_when_its_name_contains_all_words_of_an_entry() {
        let allowed = |model: &str| ModelRestrictions::default().require(ModelRole::Coder, model).is_ok();
        for model in ["claude-opus-4-5", "Claude Sonnet 4", "gemini-2.5-PRO", "us.anthropic.claude-sonnet-4-v1:0"] {
            assert!(allowed(model), "{model}");
        }
        for model in ["claude-haiku-4-5", "gemini-2.5-flash", "pro", "gpt-5", ""] {
            assert!(!allowed(model), "{model}");
        }
    }

    #[test]
    fn only_leads_of_work_and_coders_are_restricted_by_default() {
        let restricted: Vec<&str> =
            ModelRole::ALL.iter().filter(|role| ModelRestrictions::default().require(**role, "haiku").is_err()).map(|role| role.as_str()).collect();
        assert_eq!(restricted, ["commander", "zone_lead", "coder"]);
    }

    #[test]
    fn role_of_a_lead_is_its_lead_role() {
        let role = |class| LeadRole::ALL.iter().map(|lead| ModelRole::of(class, *lead).as_str()).collect::<Vec<_>>();
        assert_eq!(role(AgentClass::Lead), ["general", "commander", "zone_lead"]);
        for class in AgentClass::ALL.iter().filter(|class| **class != AgentClass::Lead) {
            assert_eq!(role(*class), [class.as_str(); 3]);
        }
    }
}
