import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Writes one history of each workflow type, way of ending and length: the ways that workflows of a test have gone. */
export async function recordHistories(client: Client, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for await (const { workflowId, type, status, historyLength } of client.workflow.list()) {
    if (status.name === 'RUNNING') continue;
    const history = await client.workflow.getHandle(workflowId).fetchHistory();
    const json = JSON.stringify(history, null, 1)
      .replaceAll(/"identity": "[^"]*"/g, '"identity": "worker"')
      .replaceAll(/"[0-9]+@[^"]*"/g, '"worker"')
      // Stacks name the files of this repository, not where it lies on the machine that records.
      .replaceAll(ROOT, '');
    writeFileSync(join(folder, `${type}-${status.name.toLowerCase()}-${historyLength}.json`), `${json}\n`);
  }
}

/** The histories of a folder, as a replaying worker takes them; ids are the files' names. */
export function readHistories(folder: string) {
  return readdirSync(folder).map((name) => ({
    workflowId: name,
    history: temporal.api.history.v1.History.fromObject(JSON.parse(readFileSync(join(folder, name), 'utf8'))),
  }));
}
