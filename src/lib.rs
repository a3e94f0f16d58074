//! The file tools of an LLM agent, inside the host's process: search, list and find, on
//! ripgrep's own libraries and without starting a program.

#![cfg_attr(docsrs, feature(doc_cfg))]


