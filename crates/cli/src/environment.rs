//! What the process was started with: variables, user, host and clock. Nothing else in the program reads them.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use contexture::{
    Clock,
    core::{Actor, Machine, NameError, Principal, SpaceName, Template, Thread, Ticket, Timestamp},
};
use contexture_capture::{DeclaredSession, Homes, ImportSettings, SessionOwner};

use crate::{
    error::{Error, Result},
    postgres_variables::PostgresVariables,
};

/// How long a hook may take when nobody says.
const USUAL_HOOK_LIMIT: Duration = Duration::from_secs(2);
/// What can be said instead.
const MIN_HOOK_LIMIT: Duration = Duration::from_millis(50);
const MAX_HOOK_LIMIT: Duration = Duration::from_mins(1);

/// The variables that matter, as they were when the program started.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    /// `CTX_STORE`: where the store is.
    pub(crate) store: Option<OsString>,
    /// `CTX_SPACE`: the tenant.
    pub(crate) space: Option<OsString>,
    /// `CTX_PRINCIPAL`: who runs the agent.
    pub(crate) principal: Option<OsString>,
    /// `CTX_MACHINE`: where the agent runs.
    pub(crate) machine: Option<OsString>,
    /// `CTX_ACTOR`: who asks for changes, as the journal records it.
    pub(crate) actor: Option<OsString>,
    /// `CTX_TICKET`: what is worked on.
    pub(crate) ticket: Option<OsString>,
    /// `CTX_THREAD`: the conversation that the work belongs to.
    pub(crate) thread: Option<OsString>,
    /// `CTX_TEMPLATE`: the role of the agent.
    pub(crate) template: Option<OsString>,
    /// `CTX_EVERY`: how often sessions are captured.
    pub(crate) every: Option<OsString>,
    /// `CTX_SESSION`: the run of an agent that this program was started in.
    pub(crate) session: Option<OsString>,
    /// `CTX_SOCKET`: where that run can be asked.
    pub(crate) socket: Option<PathBuf>,
    /// What agents say of themselves to the programs that they start.
    pub(crate) declared: Vec<DeclaredSession>,
    /// `CTX_HOOK_LIMIT`: how long a hook may take.
    pub(crate) hook_limit: Option<OsString>,
    /// `CTX_TIME`: stops the clock, for tests and demonstrations.
    pub(crate) time: Option<OsString>,
    /// `CTX_LOG`: what to say of the program's work on standard error.
    pub(crate) log: Option<OsString>,
    /// `CTX_CONTEXT_METRICS=1` or `ZEROSHOT_CONTEXT_METRICS=1`: whether figures of each assembly are shown.
    pub(crate) shows_context_metrics: bool,
    /// `XDG_DATA_HOME/contexture`, or its usual place under `HOME`.
    pub(crate) data_directory: Option<PathBuf>,
    /// `XDG_CONFIG_HOME/contexture`, or its usual place under `HOME`.
    pub(crate) config_directory: Option<PathBuf>,
    /// `XDG_STATE_HOME/contexture`, or its usual place under `HOME`.
    pub(crate) state_directory: Option<PathBuf>,
    /// `XDG_RUNTIME_DIR/contexture`.
    pub(crate) runtime_directory: Option<PathBuf>,
    /// `HOME`.
    pub(crate) home: Option<PathBuf>,
    /// `USER` or what stands for it.
    pub(crate) user: Option<OsString>,
    /// What PostgreSQL's own programs are told.
    pub(crate) postgres: PostgresVariables,
    /// Where runtimes keep their sessions: their own variables, or their usual places under `HOME`.
    pub(crate) homes: Homes,
    /// `PATH`: where programs are looked for.
    pub(crate) programs: Option<OsString>,
    /// `PAGER`: shows long output; an empty one asks for none.
    pub(crate) pager: Option<OsString>,
    /// `LESS`: what the user wants of that pager.
    pub(crate) less: Option<OsString>,
}

/// A program that shows text page by page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pager {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    /// What `LESS` should say for the program, when the user says nothing.
    pub(crate) less: Option<&'static str>,
}

impl Environment {
    /// Reads the variables. An empty one counts as not set.
    pub(crate) fn read() -> Self {
        let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let data_home = variable("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || variable("HOME").map(|home| PathBuf::from(home).join(".local/share"));
        let config_home = variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let usual_config = || variable("HOME").map(|home| PathBuf::from(home).join(".config"));
        let state_home = variable("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let usual_state = || variable("HOME").map(|home| PathBuf::from(home).join(".local/state"));
        let (user_home, data_home) = (variable("HOME").map(PathBuf::from), data_home.or_else(home));
        Self {
            store: variable("CTX_STORE"),
            space: variable("CTX_SPACE"),
            principal: variable("CTX_PRINCIPAL"),
            machine: variable("CTX_MACHINE"),
            actor: variable("CTX_ACTOR"),
            ticket: variable("CTX_TICKET"),
            thread: variable("CTX_THREAD"),
            template: variable("CTX_TEMPLATE"),
            every: variable("CTX_EVERY"),
            session: variable("CTX_SESSION"),
            socket: variable("CTX_SOCKET").map(PathBuf::from),
            declared: DeclaredSession::find(variable),
            hook_limit: variable("CTX_HOOK_LIMIT"),
            time: variable("CTX_TIME"),
            log: variable("CTX_LOG"),
            shows_context_metrics: ["CTX_CONTEXT_METRICS", "ZEROSHOT_CONTEXT_METRICS"]
                .into_iter()
                .any(|name| variable(name).is_some_and(|value| value == "1")),
            data_directory: data_home.as_ref().map(|data| data.join("contexture")),
            config_directory: config_home.or_else(usual_config).map(|config| config.join("contexture")),
            state_directory: state_home.or_else(usual_state).map(|state| state.join("contexture")),
            runtime_directory: variable("XDG_RUNTIME_DIR")
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
                .map(|runtime| runtime.join("contexture")),
            homes: Homes::find(variable, user_home.as_deref(), data_home.as_deref()),
            home: user_home,
            user: variable("USER").or_else(|| variable("LOGNAME")).or_else(|| variable("USERNAME")),
            postgres: PostgresVariables::find(variable),
            programs: variable("PATH"),
            pager: env::var_os("PAGER"),
            less: variable("LESS"),
        }
    }

    /// Returns a path as a person writes it: from the home, if it lies in there.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let home = self.home.as_deref().filter(|home| home.components().count() > 1);
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) => Path::new("~").join(rest).display().to_string(),
            None => path.display().to_string(),
        }
    }

    /// Returns where the store is when nobody says.
    pub(crate) fn data_directory(&self) -> Result<PathBuf> {
        self.data_directory.clone().ok_or(Error::NoHome)
    }

    /// Returns where it is kept what live capture is at.
    pub(crate) fn state_directory(&self) -> Result<PathBuf> {
        self.state_directory.clone().ok_or(Error::NoHome)
    }

    /// Returns where the sockets of runs may lie, the best place first.
    pub(crate) fn run_directories(&self) -> impl Iterator<Item = PathBuf> {
        let state = self.state_directory.as_ref().map(|state| state.join("run"));
        self.runtime_directory.iter().cloned().chain(state)
    }

    /// Returns the tenant to work in when nobody says.
    pub(crate) fn space(&self) -> Result<SpaceName> {
        match &self.space {
            Some(name) => named("CTX_SPACE", name, |text| SpaceName::new(text)),
            None => Ok(SpaceName::new("default").expect("the word is a legal name")),
        }
    }

    /// Returns how long a hook may take. One that is not understood, or out of reason, must not keep anybody waiting.
    pub(crate) fn hook_limit(&self) -> Duration {
        let limit = self.hook_limit.as_ref().and_then(|limit| limit.to_str()?.parse::<jiff::SignedDuration>().ok());
        let limit = limit.and_then(|limit| Duration::try_from(limit).ok());
        limit.filter(|limit| (MIN_HOOK_LIMIT..=MAX_HOOK_LIMIT).contains(limit)).unwrap_or(USUAL_HOOK_LIMIT)
    }

    /// Returns who runs the agent: `CTX_PRINCIPAL`, else user and host.
    pub(crate) fn principal(&self) -> Result<Principal> {
        match &self.principal {
            Some(name) => named("CTX_PRINCIPAL", name, |text| Principal::new(text)),
            None => named("user@host", &self.user_at_host(), |text| Principal::new(text)),
        }
    }

    /// Returns where the agent runs: `CTX_MACHINE`, else the host.
    pub(crate) fn machine(&self) -> Result<Machine> {
        match &self.machine {
            Some(name) => named("CTX_MACHINE", name, |text| Machine::new(text)),
            None => named("the host's name", &host(), |text| Machine::new(text)),
        }
    }

    /// Returns whose sessions are found here.
    pub(crate) fn session_owner(&self) -> Result<SessionOwner> {
        Ok(SessionOwner { principal: self.principal()?, machine: self.machine()?, role: None })
    }

    /// Returns the ticket that is worked on, if any.
    pub(crate) fn ticket(&self) -> Result<Option<Ticket>> {
        self.ticket.as_ref().map(|name| named("CTX_TICKET", name, |text| Ticket::new(text))).transpose()
    }

    /// Returns the thread that the work belongs to, if any.
    pub(crate) fn thread(&self) -> Result<Option<Thread>> {
        self.thread.as_ref().map(|name| named("CTX_THREAD", name, |text| Thread::new(text))).transpose()
    }

    /// Returns the role of the agent, if it was given one.
    pub(crate) fn template(&self) -> Result<Option<Template>> {
        self.template.as_ref().map(|name| named("CTX_TEMPLATE", name, |text| Template::new(text))).transpose()
    }

    /// Returns whose the sessions of a runtime are.
    pub(crate) fn import_settings(&self, runtime: &str) -> Result<ImportSettings> {
        Ok(ImportSettings {
            principal: Some(self.principal()?),
            ticket: self.ticket()?,
            thread: self.thread()?,
            role: self.template()?,
            ..ImportSettings::new(self.machine()?, runtime)
        })
    }

    /// Returns who asks for changes: `CTX_ACTOR`, else the principal.
    pub(crate) fn actor(&self, principal: Option<&Principal>) -> Result<Actor> {
        match (&self.actor, principal) {
            (Some(name), _) => named("CTX_ACTOR", name, |text| Actor::new(text)),
            (None, Some(principal)) => Ok(as_actor(principal)),
            (None, None) => Ok(as_actor(&self.principal()?)),
        }
    }

    /// Returns the clock: the system's, unless `CTX_TIME` stops it.
    pub(crate) fn clock(&self) -> Result<Clock> {
        let Some(time) = &self.time else {
            return Ok(Arc::new(|| jiff::Timestamp::now().into()));
        };
        let refused = |source| Error::Time { origin: "CTX_TIME", source };
        let stopped: Timestamp = time.to_string_lossy().parse().map_err(refused)?;
        Ok(Arc::new(move || stopped))
    }

    /// Returns the program that shows long output; nothing when the user wants none.
    pub(crate) fn pager(&self) -> Option<Pager> {
        let words = self.pager.as_ref().map_or("less -FRX".into(), |pager| pager.to_string_lossy());
        let mut words = words.split_whitespace().map(str::to_owned);
        let program = words.next().filter(|program| program != "cat")?;
        Some(Pager { program, arguments: words.collect(), less: self.less.is_none().then_some("FRX") })
    }

    fn user_at_host(&self) -> OsString {
        let account = || whoami::username_os().unwrap_or_else(|_| "somebody".into());
        let mut name = self.user.clone().unwrap_or_else(account);
        name.push("@");
        name.push(host());
        name
    }
}

fn host() -> OsString {
    // Some sandboxes hide the name; a commit can be made there all the same.
    whoami::hostname().map_or_else(|_| "somewhere".into(), Into::into)
}

/// Takes a name from the environment; one that is not UTF-8 is shown with its odd bytes replaced.
fn named<T>(origin: &'static str, name: &OsStr, new: impl Fn(&str) -> Result<T, NameError>) -> Result<T> {
    new(&name.to_string_lossy()).map_err(|source| Error::Name { origin, source })
}

fn as_actor(principal: &Principal) -> Actor {
    Actor::new(principal.as_str()).expect("both names follow one rule")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_pager_or_cat_means_none_and_words_are_arguments() {
        let pager = |text: Option<&str>| Environment { pager: text.map(Into::into), ..Environment::default() }.pager();
        assert_eq!((pager(Some("")), pager(Some("cat"))), (None, None));
        let less = |arguments: &[&str]| Pager {
            program: "less".to_owned(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
            less: Some("FRX"),
        };
        assert_eq!((pager(None), pager(Some("less -S -R"))), (Some(less(&["-FRX"])), Some(less(&["-S", "-R"]))));
    }

    #[test]
    fn a_limit_that_makes_no_sense_is_the_usual_one() {
        let limit = |text: &str| Environment { hook_limit: Some(text.into()), ..Environment::default() }.hook_limit();
        assert_eq!((limit("300ms"), limit("1.5s")), (Duration::from_millis(300), Duration::from_millis(1500)));
        for odd in ["", "0s", "-1s", "soon", "3 days"] {
            assert_eq!(limit(odd), USUAL_HOOK_LIMIT, "{odd}");
        }
    }

    #[test]
    fn the_actor_is_the_one_named_for_it_then_the_principal() {
        let environment = Environment { principal: Some("ada".into()), ..Environment::default() };
        let grace = Principal::new("grace").unwrap();
        assert_eq!(environment.actor(None).unwrap().as_str(), "ada");
        assert_eq!(environment.actor(Some(&grace)).unwrap().as_str(), "grace");
        let named = Environment { actor: Some("ci".into()), ..environment };
        assert_eq!(named.actor(Some(&grace)).unwrap().as_str(), "ci");
    }
}
