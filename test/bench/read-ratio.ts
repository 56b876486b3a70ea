import autocannon from 'autocannon';
import { median } from './bench-database.ts';

const ROUNDS = 5;
const ROUND_SECONDS = 4;
const CONNECTIONS = 32;

/** What one side is asked. */
export interface Target {
  readonly url: string;
  readonly headers?: Record<string, string>;
}

/** Requests per second of both sides and their ratio: medians over rounds that alternate. */
export interface ReadRatio {
  readonly ours: number;
  readonly bare: number;
  readonly ratio: number;
}

/** Asks both sides in turn, so that a machine whose speed drifts favours neither. */
export async function measureReadRatio(ours: Target, bare: Target): Promise<ReadRatio> {
  const rounds: { ours: number; bare: number }[] = [];
  await rate(ours);
  await rate(bare);
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push({ ours: await rate(ours), bare: await rate(bare) });
  return {
    ours: median(rounds.map((round) => round.ours)),
    bare: median(rounds.map((round) => round.bare)),
    ratio: median(rounds.map((round) => round.ours / round.bare)),
  };
}

async function rate({ url, headers = {} }: Target): Promise<number> {
  const result = await autocannon({ url, headers, connections: CONNECTIONS, duration: ROUND_SECONDS });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url} answered ${result.non2xx} errors`);
  return result.requests.average;
}
