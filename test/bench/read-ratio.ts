import { type ClientHttp2Session, connect } from 'node:http2';
import autocannon from 'autocannon';
import { median, quantile } from '../support/quantile.ts';
import { callGrpc } from './publish-calls.ts';

const ROUNDS = 5;
const ROUND_SECONDS = 2;
const CONNECTIONS = 32;

/** One side of a comparison: calls a server for this many seconds. */
export type Measured = (seconds: number) => Promise<Rate>;

interface Rate {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p99: number;
}

/** Both sides and their ratios: medians over rounds that alternate. */
export interface ReadRatio {
  readonly ours: number;
  readonly bare: number;
  readonly ratio: number;
  readonly p99Ratio: number;
}

/** Measures both sides alternately, so that a machine whose speed drifts favors neither. */
export async function measureReadRatio(ours: Measured, bare: Measured): Promise<ReadRatio> {
  const rounds: { ours: Rate; bare: Rate }[] = [];
  await ours(ROUND_SECONDS);
  await bare(ROUND_SECONDS);
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push({ ours: await ours(ROUND_SECONDS), bare: await bare(ROUND_SECONDS) });
  const middle = (numberOf: (round: (typeof rounds)[number]) => number) => median(rounds.map(numberOf));
  return {
    ours: middle((round) => round.ours.perSecond),
    bare: middle((round) => round.bare.perSecond),
    ratio: middle((round) => round.ours.perSecond / round.bare.perSecond),
    p99Ratio: middle((round) => round.ours.p99 / round.bare.p99),
  };
}

/** GETs a URL over 32 connections. */
export const overHttp =
  (url: string, headers: Record<string, string> = {}): Measured =>
  (duration) =>
    new Promise((resolve, reject) => {
      const times: number[] = [];
      const startedAt = performance.now();
      const options = { url, headers, connections: CONNECTIONS, duration };
      const run = autocannon(options, (error: Error | null, result) => {
        if (error || result.non2xx > 0 || result.errors > 0) {
          reject(error ?? new Error(`${url} answered ${result.non2xx} errors`));
        } else resolve(rateOf(times, startedAt));
      });
      run.on('response', (_client, _status, _bytes, ms) => times.push(ms));
    });

/** Repeats one gRPC call, 32 at a time. */
export function overGrpc(url: string, path: string, token: string, message: Buffer): Measured {
  let session: ClientHttp2Session | undefined;
  return async (seconds) => {
    if (!session) {
      session = connect(url);
      session.unref();
      // The server is killed at the end, while it is still connected. A call that fails rejects without this.
      session.on('error', () => undefined);
    }
    const open = session;
    const times: number[] = [];
    const startedAt = performance.now();
    const endsAt = startedAt + seconds * 1_000;
    const caller = async () => {
      for (let begun = startedAt; begun < endsAt; ) {
        begun = performance.now();
        await callGrpc(open, path, token, message);
        times.push(performance.now() - begun);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, caller));
    return rateOf(times, startedAt);
  };
}

const rateOf = (times: number[], startedAt: number): Rate => ({
  perSecond: times.length / ((performance.now() - startedAt) / 1_000),
  p99: quantile(times, 0.99),
});
