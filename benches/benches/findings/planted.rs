//! What is planted where: the findings that must come, and the programs of which nothing must be
//! said.

use std::fmt;

use crate::programs::{
    audio, build, chess, clinic, compiler, crawler, editor, game, library, mail, maps, network,
    photos, printer, restaurant, sensors, theatre, transit, weather,
};

/// A program with a fault. Its control does the same work without it.
pub struct Fault {
    /// Domain and program.
    pub name: &'static str,
    /// Runs it, with the fault or without.
    pub run: fn(bool),
    /// The kind that states the fault. Where several do, each of them is right.
    pub kinds: &'static [&'static str],
    /// Segments of the path of its site. Where several sites can be named, each of them is right.
    pub sites: &'static [&'static str],
    /// The label of the subject that is at fault, if it is one.
    pub subject: Option<&'static str>,
    /// True if arguments and results are recorded, without which nothing shows the fault.
    pub has_values: bool,
}

/// A correct program that looks like a fault.
pub struct LookAlike {
    /// Domain and program.
    pub name: &'static str,
    /// Runs it.
    pub run: fn(),
}

const fn fault(
    name: &'static str,
    run: fn(bool),
    kinds: &'static [&'static str],
    sites: &'static [&'static str],
) -> Fault {
    Fault { name, run, kinds, sites, subject: None, has_values: false }
}

impl Fault {
    const fn of(self, subject: &'static str) -> Fault {
        Fault { subject: Some(subject), ..self }
    }

    const fn with_values(self) -> Fault {
        Fault { has_values: true, ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.kinds.join(" or "), self.sites.join(" or "))?;
        self.subject.map_or(Ok(()), |subject| write!(f, " of {subject}"))
    }
}

const fn correct(name: &'static str, run: fn()) -> LookAlike {
    LookAlike { name, run }
}

/// The programs with a fault.
pub const FAULTS: &[Fault] = &[
    fault("audio/decoding", audio::decoding, &["blocking-poll"], &["decode"]),
    fault("audio/loudness", audio::loudness, &["repeated", "without-reason"], &["Studio::measure"]),
    fault("build/index", build::index, &["held-lock"], &["Index::artifacts"]),
    fault("build/stale_targets", build::stale_targets, &["without-reason"], &["Watcher::build"]),
    fault("build/workers", build::workers, &["one-lane"], &["compile", "workers"]),
    fault("chess/legal_moves", chess::legal_moves, &["repeated"], &["Engine::legal_moves"]),
    fault("chess/transpositions", chess::transpositions, &["cold-cache"], &["transpositions"]),
    fault("clinic/appointments", clinic::appointments, &["failing-subject"], &["from_import"]),
    fault("compiler/inference", compiler::inference, &["repeated"], &["Checker::infer"]),
    fault("compiler/scopes", compiler::scopes, &["growing-cost"], &["Resolver::resolve"]),
    fault("crawler/connections", crawler::connections, &["never-ended"], &["Connection"]),
    fault("crawler/host_names", crawler::host_names, &["slow-because"], &["visit"]),
    fault("crawler/parsing", crawler::parsing, &["backlog"], &["loaded"]),
    fault("crawler/pictures", crawler::pictures, &["lost-cause"], &["load"]),
    fault("editor/history", editor::history, &["growing-cost"], &["History::record"]),
    fault("editor/keystrokes", editor::keystrokes, &["slow-because"], &["Editor::press"]),
    fault("editor/minimap", editor::minimap, &["heard-twice"], &["redraw", "buffer"]).of("minimap"),
    fault("game/bullets", game::bullets, &["never-ended"], &["Bullet"]),
    fault("game/stuck_unit", game::stuck_unit, &["hot-subject"], &["find_way"]).of("scout"),
    fault("library/overdue", library::overdue, &["n+1"], &["Database::loans_of"]),
    fault("library/returns", library::returns, &["n+1"], &["CardIndex::shelf_of"]).with_values(),
    fault("mail/bounces", mail::bounces, &["retried"], &["offer"]),
    fault("mail/relays", mail::relays, &["failing-subject"], &["forward"]).of("relay 21"),
    fault(
        "mail/unread_counts",
        mail::unread_counts,
        &["without-reason", "repeated"],
        &["Mailbox::count_unread"],
    ),
    fault("maps/frontier", maps::frontier, &["growing-cost"], &["Frontier::nearest"]),
    fault("maps/heights", maps::heights, &["cold-cache"], &["Terrain::height_cached"]),
    fault("maps/names", maps::names, &["hot-subject"], &["draw_names"]).of("harbour"),
    fault("maps/tile_cache", maps::tile_cache, &["cold-cache"], &["tiles"]),
    fault("network/captures", network::captures, &["blocking-poll"], &["compress"]),
    fault("network/fast_path", network::fast_path, &["lost-cause"], &["forward"]),
    fault("network/flows", network::flows, &["never-ended"], &["Flow"]),
    fault("network/link_up", network::link_up, &["self-wake"], &["until_up"]),
    fault("network/measurements", network::measurements, &["thrown-away"], &["measure"]),
    fault("network/names", network::names, &["n+1"], &["Map::ask", "answers", "questions"]),
    fault("network/reconnect", network::reconnect, &["heard-twice"], &["recompute", "links"])
        .of("router 3"),
    fault("network/routes", network::routes, &["held-lock"], &["Table::routes"]),
    fault("photos/faces", photos::faces, &["n+1"], &["face_of", "request"]),
    fault("photos/headers", photos::headers, &["retried"], &["read_header"]),
    fault("photos/scrolling", photos::scrolling, &["thrown-away"], &["thumbnails"]),
    fault("photos/sliders", photos::sliders, &["ping-pong"], &["set_slider"]),
    fault("photos/strips", photos::strips, &["one-lane"], &["develop_cell", "strips"]),
    fault("printer/spool", printer::spool, &["held-lock"], &["Spool::sheets"]),
    fault("printer/status", printer::status, &["blocking-poll"], &["ask_printer"]),
    fault("printer/waking", printer::waking, &["self-wake"], &["until_ready"]),
    fault("restaurant/allergies", restaurant::allergies, &["unheard"], &["hall::allergy"]),
    fault("restaurant/orders", restaurant::orders, &["backlog"], &["orders"]),
    fault("restaurant/ovens", restaurant::ovens, &["ping-pong"], &["regulate"]),
    fault("restaurant/prices", restaurant::prices, &["repeated"], &["Till::price_of"]),
    fault("sensors/alarms", sensors::alarms, &["unheard"], &["alarms"]),
    fault("sensors/readings", sensors::readings, &["backlog"], &["readings"]),
    fault("sensors/relay", sensors::relay, &["lost-cause"], &["keep"]),
    fault("theatre/doors", theatre::doors, &["retried"], &["push"]),
    fault("theatre/lamps", theatre::lamps, &["repeated"], &["Stage::mix"]),
    fault("theatre/printers", theatre::printers, &["one-lane"], &["print", "tickets", "printers"]),
    fault("theatre/scenery", theatre::scenery, &["slow-because"], &["change_scene"]),
    fault("theatre/seats", theatre::seats, &["without-reason", "repeated"], &["draw"]),
    fault("transit/boards", transit::boards, &["heard-twice"], &["show", "news"]).of("board 4"),
    fault("transit/handover", transit::handover, &["ping-pong"], &["consider"]),
    fault(
        "transit/platform_changes",
        transit::platform_changes,
        &["unheard"],
        &["station::platform"],
    ),
    fault("weather/anomalies", weather::anomalies, &["repeated"], &["mean_of"]).with_values(),
    fault("weather/clouds", weather::clouds, &["growing-cost"], &["Sky::appear"]),
    fault("weather/dew_points", weather::dew_points, &["cold-cache"], &["Model::dew_point_memo"]),
    fault("weather/gauges", weather::gauges, &["hot-subject"], &["read_gauge"]).of("mill"),
    fault("weather/records", weather::records, &["failing-subject"], &["parse"]).of("station 7"),
];

/// The correct programs, beside the controls.
pub const LOOK_ALIKES: &[LookAlike] = &[
    correct("audio/levels", audio::levels),
    correct("audio/tracks", audio::tracks),
    correct("build/log_writer", build::log_writer),
    correct("build/progress", build::progress),
    correct("chess/search", chess::search),
    correct("clinic/form", clinic::form),
    correct("clinic/wages", clinic::wages),
    correct("compiler/backtracking", compiler::backtracking),
    correct("compiler/constants", compiler::constants),
    correct("compiler/facade", compiler::facade),
    correct("compiler/interpreter", compiler::interpreter),
    correct("compiler/printing", compiler::printing),
    correct("crawler/pieces", crawler::pieces),
    correct("crawler/steady_queue", crawler::steady_queue),
    correct("editor/listeners", editor::listeners),
    correct("editor/pastes", editor::pastes),
    correct("game/animation", game::animation),
    correct("game/busy_machine", game::busy_machine),
    correct("game/level", game::level),
    correct("game/painting", game::painting),
    correct("game/player", game::player),
    correct("game/small_steps", game::small_steps),
    correct("library/catalogues", library::catalogues),
    correct("library/covers", library::covers),
    correct("library/day", library::day),
    correct("library/paging", library::paging),
    correct("library/popular_books", library::popular_books),
    correct("library/signs", library::signs),
    correct("mail/greylisting", mail::greylisting),
    correct("mail/polling", mail::polling),
    correct("maps/flight", maps::flight),
    correct("maps/longer_trips", maps::longer_trips),
    correct("maps/warm_up", maps::warm_up),
    correct("network/counters", network::counters),
    correct("network/flooding", network::flooding),
    correct("network/handshake", network::handshake),
    correct("network/idle_threads", network::idle_threads),
    correct("network/readers", network::readers),
    correct("network/refreshing", network::refreshing),
    correct("network/start", network::start),
    correct("network/trace", network::trace),
    correct("network/transfer", network::transfer),
    correct("network/two_servers", network::two_servers),
    correct("photos/time_limits", photos::time_limits),
    correct("restaurant/closing", restaurant::closing),
    correct("restaurant/courses", restaurant::courses),
    correct("restaurant/dough", restaurant::dough),
    correct("restaurant/lunch", restaurant::lunch),
    correct("restaurant/seasoning", restaurant::seasoning),
    correct("restaurant/stirring", restaurant::stirring),
    correct("sensors/bursts", sensors::bursts),
    correct("sensors/flushing", sensors::flushing),
    correct("sensors/port", sensors::port),
    correct("theatre/chase", theatre::chase),
    correct("theatre/encores", theatre::encores),
    correct("theatre/guests", theatre::guests),
    correct("theatre/plan", theatre::plan),
    correct("theatre/tickets", theatre::tickets),
    correct("transit/heartbeat", transit::heartbeat),
    correct("transit/last_news", transit::last_news),
    correct("weather/archive", weather::archive),
    correct("weather/forecasts", weather::forecasts),
    correct("weather/lakes", weather::lakes),
    correct("weather/months", weather::months),
    correct("weather/pictures", weather::pictures),
    correct("weather/reports", weather::reports),
    correct("weather/simulation", weather::simulation),
];

/// How a program runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// With its fault.
    Fault,
    /// The same work without the fault.
    Control,
    /// A program without a fault to leave out.
    LookAlike,
}

/// One recording to make.
#[derive(Clone, Copy)]
pub struct Case {
    /// Domain and program.
    pub name: &'static str,
    /// With or without its fault.
    pub variant: Variant,
    /// The fault that the program can have.
    pub fault: Option<&'static Fault>,
}

impl Case {
    /// All recordings: faults, their controls, look-alikes.
    pub fn all() -> Vec<Case> {
        let case =
            |fault: &'static Fault, variant| Case { name: fault.name, variant, fault: Some(fault) };
        let faults = FAULTS.iter().map(|fault| case(fault, Variant::Fault));
        let controls = FAULTS.iter().map(|fault| case(fault, Variant::Control));
        let correct = LOOK_ALIKES.iter().map(|program| Case {
            name: program.name,
            variant: Variant::LookAlike,
            fault: None,
        });
        faults.chain(controls).chain(correct).collect()
    }

    /// True if arguments and results are recorded. A correct program must be silent with them, too.
    pub fn has_values(&self) -> bool {
        self.fault.is_none_or(|fault| fault.has_values)
    }

    /// Its name on a command line and as a file: `chess-search`, `mail-relays-fault`.
    pub fn title(&self) -> String {
        let variant = match self.variant {
            Variant::Fault => "-fault",
            Variant::Control => "-control",
            Variant::LookAlike => "",
        };
        format!("{}{variant}", self.name.replace('/', "-"))
    }

    /// The fault of this recording; none of a control.
    pub fn planted(&self) -> Option<&'static Fault> {
        self.fault.filter(|_| self.variant == Variant::Fault)
    }

    /// Runs the program in this process.
    pub fn run(&self) {
        if let Some(fault) = self.fault {
            (fault.run)(self.variant == Variant::Fault);
        } else if let Some(program) = LOOK_ALIKES.iter().find(|program| program.name == self.name) {
            (program.run)();
        }
    }
}
