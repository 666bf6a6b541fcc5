export { createPresence, type Presence } from './presence.service.ts'
export {
  type ConnectResult,
  createPresenceStore,
  type LinkState,
  type OpenSession,
  type PresenceStore,
} from './presence.store.ts'
export { createSweep } from './presence-sweep.ts'
export { createSerialBatchLoader } from './serial-batch-loader.ts'
