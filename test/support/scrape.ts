import { createOpsServer } from '../../services/platform/process/ops-server.ts';

/** The value of a sample in /metrics, by its name with ordered labels: `up`, `up{job="a",instance="b"}`. */
export type Scraped = (sample: string) => number | undefined;

/** Asks for /metrics as Prometheus does: of this process, or at the address of an operations listener. */
export async function scrape(opsUrl?: string): Promise<Scraped> {
  const samples = new Map(
    (await readMetrics(opsUrl))
      .split('\n')
      .filter((line) => line && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), numberOf(line.slice(line.lastIndexOf(' ') + 1))]),
  );
  return (sample) => samples.get(sample);
}

/** Waits for a metric: a measurement is reused for a second, and each look costs. */
export const UNTIL_SCRAPED = { timeout: 40_000, interval: 250 } as const;

let ops: ReturnType<typeof createOpsServer> | undefined;

/** Its text. */
export async function readMetrics(opsUrl?: string): Promise<string> {
  if (opsUrl) return (await fetch(`${opsUrl}/metrics`)).text();
  ops ??= createOpsServer({ ready: async () => ({ ok: true, details: {} }) });
  return (await ops.inject('/metrics')).body;
}

/** Prometheus has its own spelling of NaN and infinities. */
const numberOf = (text: string) => Number(text.replace('Inf', 'Infinity').replace('Nan', 'NaN'));
