import type { Platform } from '../../app/container.ts'
import type { Listener } from '../../core/http/listener.ts'
import { watchRecorders } from '../../modules/recordings/index.ts'
import { createRecorderAuthorization } from '../../modules/recordings/transport/index.ts'
import { createFoxgloveServer, createFoxgloveTickets, createSessionSource } from './foxglove/index.ts'

/** Serves sessions and recordings to Foxglove, next to the REST API. Returns the function that ends it. */
export function serveFoxglove(
  { core, identity, sessions, recordings, storage }: Platform,
  http: Listener,
): () => Promise<void> {
  const { config, baseUrl } = core
  const recorders = watchRecorders(recordings.recorderNodes, core.guards.api)
  const authorization = createRecorderAuthorization(core.secrets)
  const foxglove = createFoxgloveServer({
    ...core,
    ...identity,
    guard: core.guards.api,
    tickets: createFoxgloveTickets(core),
    ticketStore: sessions.ticketStore,
    source: createSessionSource({ ...core, ...sessions }),
    recordings: {
      store: storage,
      noteDownload: async (recordingId, userId, kind) =>
        await recordings.recordingAccess.noteDownload(recordingId, { userId }, kind),
    },
    recorders: recorders.current,
    recorderAuthorization: () => authorization.sign(Date.now()),
    readLog: sessions.queries.events,
    allowedOrigins: [new URL(baseUrl).origin, ...config.corsOrigins],
    trustedProxies: config.trustedProxies,
  })
  http.serveUpgrades(foxglove)
  return async () => {
    recorders.close()
    await foxglove.close()
  }
}
