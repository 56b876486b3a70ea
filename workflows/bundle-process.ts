import { createLogger } from '../services/platform/process/telemetry.ts';
import { bundleWorkflows } from './worker-session.ts';
import { ENCODES_FAILURES } from './workflow-bundle.ts';

// A process of its own, because what bundling loads would stay in the memory of the worker for as long as it runs.
process.once('disconnect', () => process.exit());
const { code } = await bundleWorkflows(createLogger('warn'), process.argv.includes(ENCODES_FAILURES));
process.send!(code, () => process.disconnect());
