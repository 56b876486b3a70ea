import type { Run, Statement } from '../database/cross-tenant-database.ts';
import type { EnvironmentName } from '../tenant.ts';
import { COMMAND_LEASE_MS } from './workflow-command.ts';

/** A stored workflow command, to be executed in Temporal. */
export interface ClaimedCommand {
  readonly id: string;
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly kind: 'START' | 'SIGNAL' | 'CANCEL';
  readonly workflow_id: string;
  readonly workflow_type: string | null;
  readonly signal_name: string | null;
  readonly arguments: string;
  readonly request_id: string;
}

const CLAIM: Statement = {
  name: 'claim_commands',
  text: `
with leased as (
  update platform.outbox_command c
     set due_at = now() + interval '${COMMAND_LEASE_MS} ms'
    from (select id from platform.outbox_command
           where due_at <= now()
           order by due_at, id limit :limit for update skip locked) next
   where c.id = next.id
  returning c.*
)
select id, merchant_id, environment, kind, workflow_id, workflow_type, signal_name,
       arguments::text as arguments, request_id
  from leased order by id`,
};

/** Leases commands for 30 s, the longest due first, and returns them in order of creation. */
export const claimCommands = (run: Run, limit: number) => run<ClaimedCommand>(CLAIM, { limit });

/** A START is sent again after a minute, doubling each time up to an hour. */
const CONFIRM: Statement = {
  name: 'confirm_commands',
  text: `
with started as (
  update platform.outbox_command
     set starts = starts + 1,
         due_at = now() + least(interval '1 minute' * 2 ^ least(starts, 6), interval '1 hour')
   where id = any (:ids::uuid[]) and kind = 'START'
)
delete from platform.outbox_command where id = any (:ids::uuid[]) and kind <> 'START'`,
};

/** Deletes commands that have been executed, except each START: its workflow ends it. */
export async function confirmCommands(run: Run, ids: readonly string[]): Promise<void> {
  await run(CONFIRM, { ids });
}

const END_STARTS: Statement = {
  name: 'end_starts',
  text: `delete from platform.outbox_command where id = any (:ids::uuid[]) and kind = 'START'`,
};

/** Deletes the START commands of a workflow that has completed its work. */
export async function endStarts(run: Run, ids: readonly string[]): Promise<void> {
  await run(END_STARTS, { ids });
}

/**
 * Spreads them, so that Temporal does not get all starts at once. Resets their count to one start, so that a relay
 * which confirms an earlier start after this delays the next one by two minutes instead of an hour.
 */
const RESEND_STARTS: Statement = {
  name: 'resend_starts',
  text: `
update platform.outbox_command set due_at = least(due_at, now() + interval '30 s' * random()), starts = 1
 where kind = 'START' and starts > 0`,
};

/** Makes every START due within half a minute. */
export async function resendStarts(run: Run): Promise<void> {
  await run(RESEND_STARTS, {});
}
