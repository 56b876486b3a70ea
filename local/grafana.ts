import { writeFile } from 'node:fs/promises';
import { delivery } from './grafana/delivery.ts';
import { money } from './grafana/money.ts';
import { platform } from './grafana/platform.ts';
import { publicApi } from './grafana/public-api.ts';

const FOLDER = new URL('../docs/operations/grafana/', import.meta.url);

/** The files that Grafana imports, by name. Built with Grafana's own types, so an unknown option does not compile. */
export const dashboardFiles: ReadonlyMap<string, string> = new Map(
  [delivery, money, platform, publicApi].map((model) => [
    `${model.uid}.json`,
    `${JSON.stringify(model, null, 2)}\n`,
  ]),
);

if (import.meta.main) {
  for (const [name, text] of dashboardFiles) await writeFile(new URL(name, FOLDER), text);
}
