(module
  (memory 1)
  (func $benchFib (export "benchFib") (param $n i64) (result i64)
    (if (result i64) (i64.lt_s (local.get $n) (i64.const 2))
      (then (i64.const 1))
      (else
        (i64.add
          (i64.add
            (call $benchFib (i64.sub (local.get $n) (i64.const 1)))
            (call $benchFib (i64.sub (local.get $n) (i64.const 2))))
          (i64.const 1)))))
  (func $benchmark (export "benchmark") (param $rounds i64) (result i64)
    (local $count i64) (local $i i32) (local $prime i32) (local $k i32)
    (block $done
      (loop $round
        (br_if $done (i64.le_s (local.get $rounds) (i64.const 0)))
        (local.set $rounds (i64.sub (local.get $rounds) (i64.const 1)))
        (memory.fill (i32.const 0) (i32.const 1) (i32.const 8190))
        (local.set $count (i64.const 0))
        (local.set $i (i32.const 0))
        (loop $scan
          (if (i32.load8_u (local.get $i))
            (then
              (local.set $prime (i32.add (i32.add (local.get $i) (local.get $i)) (i32.const 3)))
              (local.set $k (i32.add (local.get $i) (local.get $prime)))
              (block $counted
                (loop $strike
                  (br_if $counted (i32.ge_s (local.get $k) (i32.const 8190)))
                  (i32.store8 (local.get $k) (i32.const 0))
                  (local.set $k (i32.add (local.get $k) (local.get $prime)))
                  (br $strike)))
              (local.set $count (i64.add (local.get $count) (i64.const 1)))))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $scan (i32.lt_s (local.get $i) (i32.const 8190))))
        (br $round)))
    (local.get $count)))
