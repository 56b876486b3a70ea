import type { Config } from '../platform/process/config.ts';

/** The URL of a workflow in the Temporal UI; undefined unless TEMPORAL_UI_URL is set. */
export type WorkflowLink = (workflowId: string) => string | undefined;

/** Creates links to workflows from the settings. */
export function workflowLink({
  TEMPORAL_UI_URL: ui,
  TEMPORAL_NAMESPACE: namespace,
}: Pick<Config, 'TEMPORAL_UI_URL' | 'TEMPORAL_NAMESPACE'>): WorkflowLink {
  if (!ui) return () => undefined;
  const workflows = `${ui.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows`;
  return (workflowId) => `${workflows}/${encodeURIComponent(workflowId)}`;
}
