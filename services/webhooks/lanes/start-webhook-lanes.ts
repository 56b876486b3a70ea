import type { AreaDependencies } from '../../platform/area.ts';
import { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import {
  createEnvironmentGuards,
  type EgressConfig,
  type EnvironmentGuards,
} from '../../platform/egress/environment-guards.ts';
import type { Config } from '../../platform/process/config.ts';
import { AttemptRecorder, type RecorderConfig } from '../attempts/attempt-recorder.ts';
import { EndpointStatistics } from '../health/endpoint-statistics.ts';
import { WebhookLanes } from './webhook-lanes.ts';

type LanesConfig = EgressConfig & RecorderConfig & Pick<Config, 'WEBHOOK_SECRET_KEYS'>;

export interface LanesDependencies
  extends Pick<AreaDependencies, 'database' | 'writes' | 'outboxSignal' | 'logger'> {
  readonly config: LanesConfig;
}

/**
 * Starts the delivery of webhooks in this process.
 * @param guards check every connection; tests use them to replace name resolution.
 */
export function startWebhookLanes(
  dependencies: LanesDependencies,
  guards: EnvironmentGuards = createEnvironmentGuards(dependencies.config),
): WebhookLanes {
  const { config, database, outboxSignal, logger } = dependencies;
  const db = new CrossTenantDatabase(database);
  const { WEBHOOK_SCHEDULE_LIVE: live, WEBHOOK_SCHEDULE_SANDBOX: test } = config;
  const statistics = new EndpointStatistics(db.run, logger);
  const lanes = new WebhookLanes({
    db,
    recorder: new AttemptRecorder({ ...dependencies, db, statistics }),
    statistics,
    guards,
    keys: config.WEBHOOK_SECRET_KEYS,
    outboxSignal,
    firstWaits: { live: live[0] ?? 0, test: test[0] ?? 0 },
    logger,
  });
  lanes.start();
  return lanes;
}
