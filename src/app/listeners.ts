import { type Listener, listen } from '../core/http/listener.ts'
import type { Config } from './config.ts'
import type { ShutdownSteps } from './shutdown.ts'

/** Opens the HTTP servers of this process. The hub shares the server of the api when both roles run here. */
export async function openListeners(config: Config, shutdown: ShutdownSteps, stepMs: number) {
  const { roles, host } = config
  const open = async (port: number, variable: string): Promise<Listener> => {
    const listener = await listen(host, port, variable)
    shutdown.drain.push(() => listener.close(stepMs / 2)) // running requests still need the platform
    return listener
  }
  const http = roles.includes('api') ? await open(config.port, 'PORT') : undefined
  const hubHttp = roles.includes('hub') ? (http ?? (await open(config.hubPort, 'HUB_PORT'))) : undefined
  const hasOwnProbes = ['worker', 'media', 'recorder'].some((role) => roles.some((own) => own === role))
  const workerPort = hasOwnProbes ? config.workerPort : undefined
  const workerHttp = workerPort === undefined ? undefined : await open(workerPort, 'WORKER_PORT')
  return { http, hubHttp, workerHttp }
}
