import type { AreaDependencies } from '../../platform/area.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import type { WorkflowLink } from '../workflow-link.ts';

/** What the RPCs about deliveries and resends need. */
export interface DeliveryDependencies extends Pick<AreaDependencies, 'database' | 'pagination' | 'writes'> {
  readonly link: WorkflowLink;
  /** Waits before each attempt, in milliseconds. */
  readonly schedules: Readonly<Record<EnvironmentName, readonly number[]>>;
}
