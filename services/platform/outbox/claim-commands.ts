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
     set leased_until = now() + interval '${COMMAND_LEASE_MS} ms'
    from (select id from platform.outbox_command
           where leased_until is null or leased_until < now()
           order by id limit :limit for update skip locked) next
   where c.id = next.id
  returning c.*
)
select id, merchant_id, environment, kind, workflow_id, workflow_type, signal_name,
       arguments::text as arguments, request_id
  from leased order by id`,
};

/** Leases commands for 30 s, in order of creation. */
export const claimCommands = (run: Run, limit: number) => run<ClaimedCommand>(CLAIM, { limit });

const CONFIRM: Statement = {
  name: 'confirm_commands',
  text: 'delete from platform.outbox_command where id = any (:ids::uuid[])',
};

/** Deletes commands that have been executed. */
export async function confirmCommands(run: Run, ids: readonly string[]): Promise<void> {
  await run(CONFIRM, { ids });
}
