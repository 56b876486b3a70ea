import {
  BytesIEC,
  PercentUnit,
  RequestsPerSecond,
  Seconds,
  Short,
} from '@grafana/grafana-foundation-sdk/units';
import { chart, dashboard, quantile } from './chart.ts';

/** File systems that are always full or irrelevant. */
const OTHER_DISKS = 'fstype!~"tmpfs|ramfs|squashfs|erofs|iso9660"';

const CHARTS = [
  chart('RPCs by code', RequestsPerSecond, {
    '{{code}}': 'sum by (code) (rate(payments_rpc_duration_seconds_count[5m]))',
  }),
  chart('Failed RPCs and dashboard requests, an hour', Short, {
    RPCs: 'sum(increase(payments_rpc_failures_total[1h]))',
    dashboard: 'sum(increase(payments_dashboard_failures_total[1h]))',
  }).description('INTERNAL, and 5xx. Alerts: InternalCallsFail, DashboardFails'),
  chart('Slowest RPCs (p95)', Seconds, {
    '{{service}}/{{method}}': `topk(10, ${quantile(0.95, 'payments_rpc_duration_seconds', 'service', 'method')})`,
  }),
  chart('Event loop lag (p99)', Seconds, {
    '{{instance}}': 'max by (instance) (nodejs_eventloop_lag_p99_seconds)',
  }).description('Includes the 100 ms between two measurements. Alert: ProcessBlocked'),
  chart('CPU', PercentUnit, { '{{instance}}': 'sum by (instance) (rate(process_cpu_seconds_total[5m]))' }),
  chart('Memory', BytesIEC, { '{{instance}}': 'max by (instance) (process_resident_memory_bytes)' }),
  chart('Connections to PostgreSQL', Short, {
    '{{instance}} {{pool}} {{state}}': 'sum by (instance, pool, state) (payments_database_connections)',
  }).description('Alert: DatabaseConnectionsShort'),
  chart('Temporal reached by workers', Short, {
    '{{instance}}': 'max by (instance) (payments_temporal_up)',
  }).description('Alerts: TemporalAway, WorkerMissing'),
  chart('Age of the oldest workflow command', Seconds, {
    commands: 'max(payments_workflow_command_lag_seconds)',
  }).description('Alert: WorkflowCommandsWait'),
  chart('Failed workflows and commands, an hour', Short, {
    workflows: 'sum(increase(payments_workflow_failures_total[1h]))',
    'commands {{kind}}': 'sum by (kind) (increase(payments_workflow_command_errors_total[1h]))',
  }).description('Alerts: WorkflowsFail, WorkflowCommandsFail'),
  chart('Since the last success of periodic tasks', Seconds, {
    '{{task}}': 'time() - max by (task) (payments_maintenance_last_success_timestamp_seconds)',
  }).description('Alert: PeriodicTaskLate'),
  chart('Free space of disks', PercentUnit, {
    '{{instance}} {{mountpoint}}': `min by (instance, mountpoint) (node_filesystem_avail_bytes{${OTHER_DISKS}} / node_filesystem_size_bytes)`,
    '{{namespace}} {{persistentvolumeclaim}}':
      'min by (namespace, persistentvolumeclaim) (kubelet_volume_stats_available_bytes / kubelet_volume_stats_capacity_bytes)',
  })
    .max(1)
    .description('Alerts: DiskAlmostFull, DiskFillsUp'),
  chart('Until certificates expire', Seconds, {
    '{{instance}} {{certificate}}':
      'min by (instance, certificate) (payments_certificate_not_after_timestamp_seconds) - time()',
  }).description('Alerts: CertificateExpiresSoon, CertificateExpires'),
];

export const platform = dashboard(
  'payments-platform',
  'platform',
  'Processes, RPC, PostgreSQL and Temporal.',
  CHARTS,
);
