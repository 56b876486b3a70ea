#!/usr/bin/env bash
# This system through the harness that measures other webhook-delivery systems: starts it as `npm start` does, sets
# up, measures, prints the table, stops.
#   PEERS=<the harness' folder> test/bench/peers/payments.sh [all|standard|kill|slow|serve]
# PEERS_DIR   work folder (default $TMPDIR/peers or /tmp/peers)
# OUT         result file, JSON lines (default $PEERS_DIR/payments.jsonl)
# SECS INFLIGHT SLOW_RATE   30s 64 20
# The settings of `npm start` are passed on.
set -uo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "${PEERS:?the folder of the harness: lib.sh and harness/}/lib.sh"
SELF=$HERE/payments.sh
ROOT=$(cd "$HERE/../../.." && pwd)
WHAT=${1:-all}
OUT=${OUT:-$PEERS_DIR/payments.jsonl}
TARGET=$HERE/payments.json
DATA=$RUN/data
export SINK_URL=https://$SINK PEER_URL=http://127.0.0.1:9349
export SINK_CERT=$DATA/certificates/demo-receiver.pem SINK_KEY=$DATA/certificates/demo-receiver.key
export DATA_DIR=$DATA GRPC_PORT=9349 LIVE_PORT=9334 SANDBOX_PORT=9335 OPS_PORT=9336
export DASHBOARD_PORT=9338 OIDC_PORT=9339 DEMO_RECEIVER_PORT=9337 TEMPORAL_PORT=9340 TEMPORAL_UI_PORT=9341

# The harness with a sink that shows the certificate of the demo receiver, which `npm start` trusts, also during set-up.
build_bench() {
  local dir=$PEERS_DIR/harness-tls
  rm -rf "$dir" && mkdir -p "$dir" && cp "$BENCH_DIR"/harness/{go.mod,*.go} "$dir" && chmod u+w "$dir"/*
  rm -f "$dir"/*_test.go
  sed -i 's/cert, err := selfSigned()/cert, err := tls.LoadX509KeyPair(os.Getenv("SINK_CERT"), os.Getenv("SINK_KEY"))/; s/^	"net\/http"/&\n	"os"/' "$dir/sink.go"
  sed -i 's/serve(\*sinkAddr, false)/serve(*sinkAddr, true)/' "$dir/main.go"
  BENCH=$PEERS_DIR/bench-tls
  (cd "$dir" && go build -o "$BENCH" .)
}

measure() {
  local label=$1; shift
  say "payments: $label"
  "$BENCH" run -target "$TARGET" -state "$RUN/state.json" -label "$label" -sink $SINK -sink-tls \
    -procs "$PROCS" -settle "$SETTLE" -out "$OUT" "$@"
}

temporal_is_up() { curl -sf "http://127.0.0.1:$OPS_PORT/readyz" | grep -q '"temporal":"up"'; }

start_payments() {
  spawn peer "$ROOT/node_modules/.bin/node" ${NODE_ARGS:-} "$ROOT/local/start.ts"
  wait_for 180 temporal_is_up ||
    die "it did not start: $LOGS/peer.log"
}

if [ "$WHAT" = restart-after-kill ]; then # called back in the middle of the kill test
  stop peer KILL; echo "killed at $(date +%T.%N)" >&2
  sleep 2
  start_payments; echo "ready again at $(date +%T.%N)" >&2
  exit 0
fi

build_bench || die "bench could not be built"
fresh_run_dir
# With access of an earlier start, no demo data is written: its workflows would run beside the first measurements.
mkdir -p "$DATA" && echo '{"live":{},"sandbox":{},"other":{},"dashboard":{"email":""}}' >"$DATA/demo.json"
say "starting everything"
start_payments
PEER_KEY=$("$ROOT/node_modules/.bin/node" -p 'JSON.parse(fs.readFileSync(process.argv[1])).grpc.token' "$DATA/demo.json")
export PEER_KEY
"$BENCH" setup -target "$TARGET" -state "$RUN/state.json" -sink $SINK || exit 1
# Pings that came when the set-up was over are answered now, so that nothing is being retried when it is measured.
timeout 8 "$BENCH" sink -addr $SINK -tls >"$LOGS/pings.log" 2>&1
PROCS=payments=$PIDS/peer # PostgreSQL and Temporal are its children
SETTLE=11s # The records of the last deliveries are written up to 11 s after them

case $WHAT in
serve) echo "Payments at $PEER_URL; its processes: $PROCS"; read -r -p "Enter stops it. " ;;
all | standard | kill | slow) runs "$WHAT" ;;
*) die "usage: $(basename "$0") [all|standard|kill|slow|serve]" ;;
esac
