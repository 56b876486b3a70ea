import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textTable } from '../../../local/text-table.ts';
import { median } from '../../support/quantile.ts';

/**
 * This system and Outpost side by side: both are started, and every run is made of one and at once of the other, for
 * several rounds, so that a machine whose speed drifts favors neither. Prints the medians and their ratio.
 *
 *   PEERS=<folder of the harness> OUTPOST_BIN=<its programs> node test/bench/peers/alternate.ts
 *
 * PEERS_DIR (work folder), ROUNDS (3) and SECS (20s) as in payments.sh. The rounds are preceded by one that is not counted.
 */
const PEERS = process.env.PEERS ?? fail('PEERS names the folder of the harness');
const WORK = process.env.PEERS_DIR ?? join(tmpdir(), 'peers');
const ROUNDS = Number(process.env.ROUNDS ?? 3);
const SECS = process.env.SECS ?? '20s';
const SINK = '127.0.0.1:9400';
const RUNS = {
  '50/s': ['-lane', 'main:50'],
  '200/s': ['-lane', 'main:200'],
  '500/s': ['-lane', 'main:500'],
  max: ['-lane', 'main:max@64', '-drain', '180s'],
  'fan-out-10': ['-lane', 'fan:20'],
};

interface System {
  readonly name: string;
  /** The script that starts it and then waits for its standard input to end. */
  readonly script: string;
  readonly bench: string;
  readonly target: readonly string[];
  /** What its target file names. */
  readonly environment: () => Record<string, string>;
}

const SYSTEMS: readonly System[] = [
  {
    name: 'payments',
    script: join(import.meta.dirname, 'payments.sh'),
    bench: 'bench-tls',
    target: ['-target', join(import.meta.dirname, 'payments.json'), '-sink-tls'],
    environment: () => {
      const data = join(WORK, 'payments/run/data');
      return {
        SINK_URL: `https://${SINK}`,
        SINK_CERT: join(data, 'certificates/demo-receiver.pem'),
        SINK_KEY: join(data, 'certificates/demo-receiver.key'),
        PEER_URL: 'http://127.0.0.1:9349',
        PEER_KEY: JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8')).grpc.token,
      };
    },
  },
  {
    name: 'outpost',
    script: join(PEERS, 'outpost.sh'),
    bench: 'bench',
    target: ['-target', 'outpost', '-targets', join(PEERS, 'harness/targets')],
    environment: () => ({
      SINK_URL: `http://${SINK}`,
      PEER_URL: 'http://127.0.0.1:9333',
      PEER_KEY: 'bench-key',
    }),
  },
];

/** What the harness writes of a run, one JSON line each; times in milliseconds. */
interface Result {
  readonly target: string;
  readonly label: string;
  readonly accept_to_sink_p50: number;
  readonly accept_to_sink_p99: number;
  readonly deliveries_per_s: number;
  readonly deliveries_per_cpu_s: number;
  readonly lost_deliveries: number;
}

function fail(message: string): never {
  throw new Error(message);
}

const folderOf = ({ name }: System) => join(WORK, name);

async function start(system: System): Promise<{ child: ChildProcess; processes: string }> {
  mkdirSync(folderOf(system), { recursive: true });
  const child = spawn(system.script, ['serve'], {
    env: { ...process.env, PEERS_DIR: folderOf(system) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    const processes = /its processes: (\S+)/.exec(output)?.[1];
    if (processes) return { child, processes };
  }
  return fail(`${system.name} did not start:\n${output}`);
}

/** Makes a run, and returns what the harness measured. */
function measure(system: System, processes: string, label: string, run: readonly string[]): Result {
  const folder = folderOf(system);
  const out = join(folder, 'last-run.jsonl');
  rmSync(out, { force: true });
  const { status } = spawnSync(
    join(folder, system.bench),
    [
      ...['run', ...system.target, '-state', join(folder, 'run/state.json'), '-sink', SINK],
      ...['-procs', processes, '-settle', '11s', '-stuck', '40s', '-for', SECS, '-label', label],
      ...['-out', out, ...run],
    ],
    {
      env: { ...process.env, ...system.environment() },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  if (status !== 0) fail(`the harness failed for ${system.name}`);
  return JSON.parse(readFileSync(out, 'utf8')) as Result;
}

function printMedians(results: readonly Result[]): void {
  const rows = Object.keys(RUNS).map((label) => {
    const of = (target: string, figure: Exclude<keyof Result, 'target' | 'label'>) =>
      median(
        results.filter((result) => result.target === target && result.label === label).map((r) => r[figure]),
      );
    const perCpuS = ['payments', 'outpost'].map((target) => of(target, 'deliveries_per_cpu_s'));
    const latencies = ['payments', 'outpost'].map(
      (target) => `${of(target, 'accept_to_sink_p50')} / ${of(target, 'accept_to_sink_p99')}`,
    );
    const perS = ['payments', 'outpost'].map((target) => of(target, 'deliveries_per_s'));
    return [
      label,
      ...[...perCpuS, perCpuS[0]! / perCpuS[1]!, ...perS].map((n) => n.toFixed(2)),
      ...latencies,
    ];
  });
  const columns = [
    'run',
    'deliveries/CPU-s',
    'Outpost',
    'ratio',
    'deliveries/s',
    'Outpost',
    'p50 / p99 ms',
    'Outpost',
  ];
  console.info(textTable([columns, ...rows]));
}

const started: { system: System; child: ChildProcess; processes: string }[] = [];
try {
  for (const system of SYSTEMS) started.push({ system, ...(await start(system)) });
  const results: Result[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [label, run] of Object.entries(RUNS)) {
      for (const { system, processes } of started) {
        const result = measure(system, processes, label, run);
        if (round > 0) results.push(result);
      }
    }
  }
  printMedians(results);
} finally {
  for (const { child } of started) {
    child.stdin!.end();
    await once(child, 'exit');
  }
}
