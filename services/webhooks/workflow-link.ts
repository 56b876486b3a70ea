import type { Config } from '../platform/process/config.ts';

/** The address of a workflow in the Temporal UI; undefined where TEMPORAL_UI_URL is not set. */
export type WorkflowLink = (workflowId: string) => string | undefined;

/** Links to workflows, as these settings have them. */
export function workflowLink({
  TEMPORAL_UI_URL: ui,
  TEMPORAL_NAMESPACE: namespace,
}: Pick<Config, 'TEMPORAL_UI_URL' | 'TEMPORAL_NAMESPACE'>): WorkflowLink {
  if (!ui) return () => undefined;
  const workflows = `${ui.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows`;
  return (workflowId) => `${workflows}/${encodeURIComponent(workflowId)}`;
}
