import type { CrossTenantDatabase, Statement } from '../database/cross-tenant-database.ts';
import { registerMeasuredGauges } from '../process/measured-gauges.ts';

const COUNT_LIMIT = 100_000;

interface CommandsRow {
  readonly commands: number;
  readonly age_seconds: number | null;
  readonly workflows: number;
  readonly overdue_seconds: number | null;
}

const MEASURE: Statement = {
  name: 'measure_commands',
  text: `
select (select count(*) from (select from platform.outbox_command where starts = 0 limit ${COUNT_LIMIT}) c)::int as commands,
       (select extract(epoch from now() - uuid_extract_timestamp(id))::float8
          from platform.outbox_command where starts = 0 order by id limit 1) as age_seconds,
       (select count(*) from (select from platform.outbox_command where starts > 0 limit ${COUNT_LIMIT}) c)::int as workflows,
       (select extract(epoch from now() - due_at)::float8
          from platform.outbox_command where starts > 0 order by due_at limit 1) as overdue_seconds`,
};

/** Registers gauges measured on each scrape; all processes on a database report the same values. */
export function registerCommandMetrics(db: CrossTenantDatabase): void {
  registerMeasuredGauges({
    measure: async () => (await db.run<CommandsRow>(MEASURE))[0]!,
    gauges: [
      {
        name: 'payments_workflow_command_lag_seconds',
        help: 'Age of the oldest workflow command not yet sent to Temporal.',
        read: ({ age_seconds }) => Math.max(age_seconds ?? 0, 0),
      },
      {
        name: 'payments_workflow_outbox_commands',
        help: `Workflow commands not yet sent to Temporal, counted up to ${COUNT_LIMIT}.`,
        read: ({ commands }) => commands,
      },
      {
        name: 'payments_outbox_workflows',
        help: `Workflows that were started and have not done their work yet, counted up to ${COUNT_LIMIT}.`,
        read: ({ workflows }) => workflows,
      },
      {
        name: 'payments_outbox_workflow_overdue_seconds',
        help: 'How overdue the most overdue check is that a started workflow still runs.',
        read: ({ overdue_seconds }) => Math.max(overdue_seconds ?? 0, 0),
      },
    ],
  });
}
