import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import proto, { type temporal } from '@temporalio/proto';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { History } = proto.temporal.api.history.v1;
const { EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, EVENT_TYPE_WORKFLOW_TASK_COMPLETED } =
  proto.temporal.api.enums.v1.EventType;

/** A history for a worker to replay. */
export interface RecordedHistory {
  /** Of the workflow. */
  readonly type: string;
  /** The file's name, and where it is cut. */
  readonly workflowId: string;
  readonly history: temporal.api.history.v1.History;
}

/** Writes one history for each workflow type, status and length that the tests of a file have produced. */
export async function recordHistories(client: Client, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for await (const { workflowId, runId, type, status } of client.workflow.list()) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const length = history.events?.length;
    const json = JSON.stringify(history, null, 1)
      .replaceAll(/"identity": "[^"]*"/g, '"identity": "worker"')
      .replaceAll(/"[0-9]+@[^"]*"/g, '"worker"')
      // Stacks name files relative to this repository, not to the recording machine.
      .replaceAll(ROOT, '');
    writeFileSync(join(folder, `${type}-${status.name.toLowerCase()}-${length}.json`), `${json}\n`);
  }
}

/** Reads all histories in test/workflows. */
export function readHistories(): RecordedHistory[] {
  return globSync(join(ROOT, 'test/workflows/*/histories/*.json')).map((path) => {
    const name = basename(path, '.json');
    const history = History.fromObject(JSON.parse(readFileSync(path, 'utf8')));
    return { type: name.split('-')[0]!, workflowId: name, history };
  });
}

/** The history up to each point at which the workflow was waiting for its next task. */
export function historyPrefixes({ type, workflowId, history }: RecordedHistory): RecordedHistory[] {
  const { events } = history;
  const first = events.findIndex(({ eventType }) => eventType === EVENT_TYPE_WORKFLOW_TASK_COMPLETED);
  return events.flatMap(({ eventType }, index) => {
    if (index < first || eventType !== EVENT_TYPE_WORKFLOW_TASK_SCHEDULED) return [];
    const past = History.create({ events: events.slice(0, index) });
    return [{ type, workflowId: `${workflowId} up to ${index}`, history: past }];
  });
}

/** A history as text, with its payloads decoded. */
export function historyText(history: unknown): string {
  const json = JSON.stringify(history);
  const payloads = [...json.matchAll(/"data":"([^"]+)"/g)].map(([, data]) => atob(data!));
  return [json, ...payloads].join('\n');
}
