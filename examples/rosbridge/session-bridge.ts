import { OperatorLink, type OperatorLinkOptions } from '@wheelhouse/sdk'
import { type OperatorBridgeOptions, startOperatorBridge } from './operator-bridge.ts'

export interface SessionBridgeOptions
  extends OperatorBridgeOptions,
    Pick<OperatorLinkOptions, 'getTicket' | 'reconnect' | 'onConnection' | 'onClosed' | 'onError'> {}

/** Connects to a session as its operator and serves it to rosbridge clients. Resolves when clients can connect. */
export async function bridgeSession(options: SessionBridgeOptions) {
  const { host, port, allowedOrigins, ...linkOptions } = options
  const link = new OperatorLink({
    ...linkOptions,
    onTelemetry: (data) => bridge.telemetry(data),
    onState: (state) => bridge.state(state),
    onDropped: (_seq, why) => bridge.dropped(why),
  })
  const bridge = await startOperatorBridge(link, {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(allowedOrigins && { allowedOrigins }),
  })
  link.connect().catch(() => {}) // reported through onClosed
  return {
    port: bridge.port,
    async close(): Promise<void> {
      await bridge.close()
      await link.close()
    },
  }
}
