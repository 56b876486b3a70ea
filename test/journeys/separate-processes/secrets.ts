import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';

/** Settings that hold secrets, alone or beside what is public. */
const NAMES = /KEYS|API_KEY|PEPPERS|TOKEN|SECRET|PASSWORD|_URL|STORE/;
/** Shorter ones, such as the name of a role, are not secrets. */
export const MIN_LENGTH = 16;

/** The secrets in the settings of processes: keys without their ids, tokens, passwords in URLs; no hashes of tokens. */
export function secretsIn(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings)
    .filter(([name]) => NAMES.test(name) && name !== 'SERVICE_TOKENS')
    .flatMap(([, value]) =>
      URL.canParse(value) && value.includes('://') ? [passwordOf(value)] : value.split(/[\s,;:]+/),
    )
    .filter((secret) => secret.length >= MIN_LENGTH);
}

const passwordOf = (url: string) => decodeURIComponent(new URL(url).password);

/** All that Temporal keeps of all workflows, with their payloads decoded. */
export async function historiesOf({
  workflow,
}: Client): Promise<{ readonly count: number; readonly text: string }> {
  const texts: string[] = [];
  for await (const { workflowId, runId } of workflow.list()) {
    const history = await workflow.getHandle(workflowId, runId).fetchHistory();
    // Strings and payloads are in it as they are.
    const bytes = temporal.api.history.v1.History.encode(history).finish();
    texts.push(Buffer.from(bytes).toString('latin1'));
  }
  return { count: texts.length, text: texts.join('\n') };
}
