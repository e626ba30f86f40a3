//! The parts that pages are made of: nouns in the folders of their areas, everything else here.

pub(crate) mod badge;
pub(crate) mod bar;
pub(crate) mod board;
pub(crate) mod cc_picker;
pub(crate) mod copy_button;
pub(crate) mod dialog;
pub(crate) mod diff_view;
pub(crate) mod form;
pub(crate) mod glyph;
pub(crate) mod help;
pub(crate) mod icon;
pub(crate) mod inline_code;
pub(crate) mod menu;
pub(crate) mod notices;
pub(crate) mod palette;
pub(crate) mod preferences;
pub(crate) mod progress;
pub(crate) mod prose;
pub(crate) mod run_log;
pub(crate) mod runs;
pub(crate) mod section_nav;
pub(crate) mod section_page;
pub(crate) mod sidebar;
pub(crate) mod team;
pub(crate) mod theme;
pub(crate) mod toast;
