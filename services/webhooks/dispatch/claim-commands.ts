import type { EnvironmentName } from '../../platform/tenant.ts';
import type { Run, Statement } from './dispatch-database.ts';
import { COMMAND_LEASE_MS } from './dispatch-limits.ts';

/** A command that waits to be carried out in Temporal. */
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
           order by id limit $1 for update skip locked) next
   where c.id = next.id
  returning c.*
)
select id, merchant_id, environment, kind, workflow_id, workflow_type, signal_name,
       arguments::text as arguments, request_id
  from leased order by id`,
};

/** Claims commands in the order they were made. */
export const claimCommands = (run: Run, most: number) => run<ClaimedCommand>(CLAIM, [most]);

const CONFIRM: Statement = {
  name: 'confirm_commands',
  text: 'delete from platform.outbox_command where id = any ($1::uuid[])',
};

/** Forgets commands that were carried out. */
export async function confirmCommands(run: Run, ids: readonly string[]): Promise<void> {
  await run(CONFIRM, [ids]);
}
