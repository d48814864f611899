//! A network: routers, links and flows.

use std::collections::HashMap;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use metaspy::channels::{Bus, Callbacks, std_mpsc};
use metaspy::locks::{Mutex, RwLock};
use metaspy::prelude::*;
use metaspy::tasks::{self, FutureExt};

use super::{Numbers, answer_after, compute, one_thread, pause, two_threads};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Identify)]
struct Router(u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Identify)]
struct Packet(u32);

/// The fault: statistics are sent while the table of routes is locked, and all packets wait.
/// Without it, they are copied.
pub fn routes(fault: bool) {
    let table = Arc::new(Mutex::new("Table::routes", vec![1_u64; 200]));
    let mut threads: Vec<_> = (0..2)
        .map(|_| {
            let table = table.clone();
            tasks::thread::spawn(move || {
                for packet in 0..300 {
                    route(&table, Packet(packet));
                    pause(400);
                }
            })
        })
        .collect();
    let reported = table.clone();
    threads.push(tasks::thread::spawn(move || (0..15).for_each(|_| report(&reported, fault))));
    threads.into_iter().for_each(|thread| thread.join().expect("nothing panics"));
}

#[observe(subject = packet)]
fn route(table: &Mutex<Vec<u64>>, packet: Packet) -> u64 {
    table.lock().expect("nothing panics")[packet.0 as usize % 200]
}

#[observe]
fn report(table: &Mutex<Vec<u64>>, under_lock: bool) {
    let routes = table.lock().expect("nothing panics");
    if under_lock {
        upload(&routes);
        drop(routes);
    } else {
        let copy = routes.clone();
        drop(routes);
        upload(&copy);
    }
    pause(4_000);
}

#[observe]
fn upload(routes: &[u64]) -> usize {
    pause(8_000);
    routes.len()
}

/// Correct: many threads read the routes for an instant, and seldom one of them writes.
pub fn readers() {
    let table = Arc::new(RwLock::new("Readers::routes", vec![1_u64; 200]));
    let threads: Vec<_> = (0..4)
        .map(|first| {
            let table = table.clone();
            tasks::thread::spawn(move || {
                for packet in 0..500_u32 {
                    check(Packet(packet));
                    let route = table.read().expect("nothing panics")[packet as usize % 200];
                    if packet % 100 == first {
                        table.write().expect("nothing panics")[packet as usize % 200] = route + 1;
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("nothing panics"));
}

#[observe(subject = packet)]
fn check(packet: Packet) -> u64 {
    compute(12) ^ u64::from(packet.0)
}

/// The fault: a page of the map of the network asks a directory for the name of each router.
/// Without it, it asks once.
pub fn names(fault: bool) {
    let (questions, asked) = Bus::new("questions").wrap(mpsc::channel::<_>());
    let (answers, answered) = Bus::new("answers").wrap(mpsc::channel::<_>());
    let directory = tasks::thread::spawn(move || {
        while let Ok(routers) = asked.recv() {
            let _because = asked.because();
            pause(400);
            answers.send(Vec::len(&routers)).expect("the map is there");
        }
    });
    let map = Map { questions, answered };
    (0..20).for_each(|page| map.show(page, fault));
    drop(map);
    directory.join().expect("nothing panics");
}

struct Map {
    questions: std_mpsc::Sender<Vec<Router>>,
    answered: std_mpsc::Receiver<usize>,
}

#[observe]
impl Map {
    fn show(&self, page: u32, one_by_one: bool) {
        compute(50);
        let routers: Vec<Router> = (page * 18..page * 18 + 18).map(Router).collect();
        if one_by_one {
            routers.iter().for_each(|&router| self.ask(router, vec![router]));
        } else {
            self.ask(routers[0], routers);
        }
    }

    #[observe(subject = first)]
    fn ask(&self, first: Router, routers: Vec<Router>) {
        self.questions.send(routers).expect("the directory is there");
        self.answered.recv().expect("the directory answers");
        compute(u64::from(first.0 % 2));
    }
}

/// Correct: the way to a router is followed hop by hop; only a hop knows the next one.
pub fn trace() {
    one_thread().block_on(async {
        for target in 0..20 {
            trace_route(target).await;
        }
    });
}

#[observe]
async fn trace_route(target: u32) {
    let mut hop = target * 1_000;
    for _ in 0..12 {
        hop = next_hop(Router(hop)).await;
    }
}

#[observe(subject = from)]
async fn next_hop(from: Router) -> u32 {
    answer_after(500).await;
    from.0 + 1
}

/// The fault: packets of the fast path cross to the other thread in a channel that carries no
/// causes; others take the observed one. Without it, both do.
pub fn fast_path(fault: bool) {
    let (slow, queue) = Bus::new("slow").wrap(mpsc::channel::<_>());
    let (fast, fast_queue) = mpsc::channel::<Packet>();
    let carried = tasks::thread::spawn(move || {
        while let Ok(packet) = queue.recv() {
            let _because = queue.because();
            forward(packet);
        }
    });
    let lost = std::thread::spawn(move || fast_queue.iter().for_each(|packet| _ = forward(packet)));
    for packet in 0..1_500 {
        receive(Packet(packet), |packet| {
            if fault && packet.0 % 3 == 0 {
                fast.send(packet).expect("the thread is there");
            } else {
                slow.send(packet).expect("the thread is there");
            }
        });
    }
    drop((slow, fast));
    carried.join().expect("nothing panics");
    lost.join().expect("nothing panics");
}

#[observe(subject = packet)]
fn receive(packet: Packet, pass_on: impl Fn(Packet)) {
    compute(4);
    pass_on(packet);
}

#[observe(subject = packet)]
fn forward(packet: Packet) -> u64 {
    compute(6) ^ u64::from(packet.0)
}

/// Correct: routes are refreshed when a link changes, and by a clock of their own on another
/// thread.
pub fn refreshing() {
    let clock = std::thread::spawn(|| {
        for minute in 0..300 {
            refresh(Router(minute % 20));
            pause(100);
        }
    });
    (0..300).for_each(link_changed);
    clock.join().expect("nothing panics");
}

#[observe]
fn link_changed(link: u32) {
    compute(5);
    refresh(Router(link % 20));
    pause(100);
}

#[observe(subject = router)]
fn refresh(router: Router) -> u64 {
    compute(10) ^ u64::from(router.0)
}

/// The fault: a flow stays in the table after its last packet.
pub fn flows(fault: bool) {
    let mut table: HashMap<u32, Spied<Flow>> = HashMap::new();
    let mut bytes = 0_u64;
    for step in 0..9_000_u32 {
        // Each flow has three packets, and three flows are open at a time.
        let flow = step / 9 * 3 + step % 3;
        let open = table.entry(flow).or_insert_with(|| Spied::new(Flow { number: flow }));
        bytes = bytes.wrapping_add(open.packet());
        if !fault && step % 9 >= 6 {
            table.remove(&flow);
        }
    }
    println!("{bytes} {}", table.len());
}

struct Flow {
    number: u32,
}

#[observe]
impl Flow {
    fn packet(&self) -> u64 {
        compute(4) ^ u64::from(self.number)
    }
}

/// Correct: the counters of all links are made when their links come up, and all of them are read
/// until the end.
pub fn counters() {
    let mut links = Vec::new();
    let mut read = 0_u64;
    for second in 0..400 {
        if second % 2 == 0 {
            links.push(Spied::new(Flow { number: second }));
        }
        read = links.iter().map(|link| link.packet()).fold(read, u64::wrapping_add);
    }
    println!("{read}");
}

/// The fault: router 3 subscribes again when it reconnects, and its old subscription stays.
pub fn reconnect(fault: bool) {
    let links = Callbacks::new("links");
    type Listener = Box<dyn Fn(u32) -> u64>;
    (0..10).for_each(|router| label(Router(router), format!("router {router}")));
    let subscribe = |router: u32| -> Listener {
        Box::new(move |link| links.callback("down", || recompute(Router(router), link)))
    };
    let mut listeners: Vec<Listener> = (0..10).map(subscribe).collect();
    let mut changed = 0;
    for link in 0..300 {
        if link == 50 {
            if !fault {
                drop(listeners.remove(3));
            }
            listeners.push(subscribe(3));
        }
        changed ^= links.announce("down", || {
            listeners.iter().map(|listen| listen(link)).fold(0, u64::wrapping_add)
        });
    }
    println!("{changed}");
}

#[observe(subject = router)]
fn recompute(router: Router, link: u32) -> u64 {
    compute(7) ^ u64::from(router.0 + link)
}

/// Correct: a change of a link reaches a router from its two neighbours, as two messages.
pub fn flooding() {
    let (flood, queue) = Bus::new("flood").wrap(mpsc::channel::<_>());
    for link in 0..250_u32 {
        for router in 0..8 {
            flood.send((Router(router), link)).expect("the queue is there");
            flood.send((Router((router + 1) % 8), link)).expect("the queue is there");
        }
        while let Ok((router, link)) = queue.try_recv() {
            let _because = queue.because();
            recompute(router, link);
        }
    }
}

/// The fault: a capture is compressed in one piece within a task, and the tasks beside it stand
/// still. Without it, the task gives way after each block.
pub fn captures(fault: bool) {
    one_thread().block_on(async move {
        let probes: Vec<_> = (0..4).map(|router| tasks::spawn(probe(Router(router)))).collect();
        for capture in 0..20 {
            compress(Packet(capture), fault).await;
            answer_after(6_000).await;
        }
        probes.iter().for_each(|probe| probe.abort());
    });
}

#[observe(subject = router)]
async fn probe(router: Router) {
    loop {
        answer_after(1_500).await;
        compute(5 + u64::from(router.0));
    }
}

#[observe(subject = capture)]
async fn compress(capture: Packet, in_one_piece: bool) {
    for _ in 0..60 {
        compute(250 + u64::from(capture.0 % 2));
        if !in_one_piece {
            tokio::task::yield_now().await;
        }
    }
}

/// Correct: the configuration is read by a call that blocks, before any other task has been
/// started.
pub fn start() {
    one_thread().block_on(async {
        for file in 0..20 {
            read_configuration(file).await;
        }
        let probes: Vec<_> = (0..4).map(|router| tasks::spawn(probe(Router(router)))).collect();
        answer_after(40_000).await;
        probes.iter().for_each(|probe| probe.abort());
    });
}

#[observe]
async fn read_configuration(file: u32) {
    pause(3_000 + u64::from(file));
}

/// The fault: a link that is not up yet is asked again at once, until it is. Without it, who waits
/// is told.
pub fn link_up(fault: bool) {
    one_thread().block_on(async move {
        for link in 0..12 {
            let (up, mut is_up) = tokio::sync::watch::channel(false);
            let connecting = tasks::spawn(async move {
                answer_after(6_000).await;
                up.send(true).expect("somebody waits");
            });
            if fault {
                until_up(Router(link), &is_up).await;
            } else {
                is_up.changed().await.expect("the link comes up");
            }
            connecting.await.expect("nothing panics");
        }
    });
}

#[observe(subject = link)]
async fn until_up(link: Router, is_up: &tokio::sync::watch::Receiver<bool>) {
    while !*is_up.borrow() {
        tokio::task::yield_now().await;
    }
    compute(u64::from(link.0));
}

/// Correct: a large transfer gives way after each of its blocks.
pub fn transfer() {
    one_thread().block_on(async {
        for file in 0..20 {
            send_file(Packet(file)).await;
        }
    });
}

#[observe(subject = file)]
async fn send_file(file: Packet) {
    for _ in 0..100 {
        compute(25 + u64::from(file.0 % 2));
        tokio::task::yield_now().await;
    }
}

/// The fault: a measurement of a line is given up at each tick of the clock, and begins anew.
/// Without it, it goes on.
pub fn measurements(fault: bool) {
    one_thread().block_on(async move {
        for line in 0..50 {
            if fault {
                for _ in 0..4 {
                    tokio::select! {
                        biased;
                        () = measure(Router(line)) => {}
                        () = tick() => {}
                    }
                }
            }
            measure(Router(line)).await;
        }
    });
}

#[observe(subject = line)]
async fn measure(line: Router) {
    for _ in 0..10 {
        compute(120 + u64::from(line.0));
        tokio::task::yield_now().await;
    }
}

async fn tick() {
    for _ in 0..7 {
        tokio::task::yield_now().await;
    }
}

/// Correct: two servers are asked at the same time, the first answer counts, and the other question
/// is dropped.
pub fn two_servers() {
    one_thread().block_on(async {
        let mut speeds = Numbers::new(41);
        for query in 0..150 {
            let north = query_server(Router(query), 300 + speeds.below(1_500));
            let south = query_server(Router(query + 10_000), 300 + speeds.below(1_500));
            tokio::select! {
                () = north => {}
                () = south => {}
            }
        }
    });
}

#[observe(subject = query)]
async fn query_server(query: Router, time: u64) {
    compute(3);
    answer_after(time + u64::from(query.0 % 2)).await;
}

/// Correct: three threads take packets from one queue, which is empty most of the time.
pub fn idle_threads() {
    let (packets, queue) = mpsc::channel::<Packet>();
    let queue = Arc::new(std::sync::Mutex::new(queue));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let queue = queue.clone();
            tasks::thread::spawn(move || {
                loop {
                    let next = queue.lock().expect("nothing panics").recv();
                    let Ok(packet) = next else { break };
                    check(packet);
                }
            })
        })
        .collect();
    for packet in 0..400 {
        packets.send(Packet(packet)).expect("the threads are there");
        pause(150);
    }
    drop(packets);
    threads.into_iter().for_each(|thread| thread.join().expect("nothing panics"));
}

/// Correct: two routers agree on a key in four messages.
pub fn handshake() {
    two_threads().block_on(async {
        let (to_server, mut server) = Bus::new("to_server").mpsc::<(Router, u32)>(16);
        let (to_client, mut client) = Bus::new("to_client").mpsc::<(Router, u32)>(16);
        let serving = tasks::spawn(async move {
            while let Some((router, step)) = server.recv().await {
                let _ = answer(router, step, to_client.clone()).caused_by(server.received()).await;
            }
        });
        for router in 0..120 {
            to_server.send((Router(router), 0)).await.expect("the server is there");
            let (router, step) = client.recv().await.expect("the server answers");
            let _ = prove(router, step, to_server.clone()).caused_by(client.received()).await;
            client.recv().await.expect("the server answers");
        }
        drop(to_server);
        serving.await.expect("nothing panics");
        tokio::time::sleep(Duration::from_millis(1)).await;
    });
}

#[observe(subject = router)]
async fn answer(router: Router, step: u32, back: metaspy::channels::mpsc::Sender<(Router, u32)>) {
    compute(8);
    back.send((router, step + 1)).await.expect("the client is there");
}

#[observe(subject = router)]
async fn prove(router: Router, step: u32, back: metaspy::channels::mpsc::Sender<(Router, u32)>) {
    compute(9);
    back.send((router, step + 1)).await.expect("the server is there");
}
