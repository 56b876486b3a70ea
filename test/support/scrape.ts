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

/** Its text. */
export async function readMetrics(opsUrl?: string): Promise<string> {
  if (opsUrl) return (await fetch(`${opsUrl}/metrics`)).text();
  const ready = async () => ({ ok: true, details: {} });
  return (await createOpsServer({ ready }).inject('/metrics')).body;
}

/** Prometheus has its own spelling of NaN and infinities. */
const numberOf = (text: string) => Number(text.replace('Inf', 'Infinity').replace('Nan', 'NaN'));
