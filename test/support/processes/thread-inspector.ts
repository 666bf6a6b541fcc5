import { once } from 'node:events'
import WebSocket from 'ws'
import { waitFor } from '../world/wait.ts'
import type { Wheelhouse } from './processes.ts'

/** Environment of a process in whose threads `evaluateIn` executes code. */
export const inspectable = { NODE_OPTIONS: '--inspect=127.0.0.1:0' }

/** Executes JavaScript in a thread of another process, through its inspector. Does not wait for the end of it. */
export async function evaluateIn(program: Wheelhouse, thread: string, expression: string): Promise<void> {
  const url = /Debugger listening on (ws:\S+)/.exec(program.errorOutput)?.[1]
  if (url === undefined) throw new Error('The process has no inspector.')
  const inspector = new WebSocket(url)
  await once(inspector, 'open')
  const threads = new Map<string, string>()
  inspector.on('message', (data) => {
    const { method, params } = JSON.parse(String(data))
    if (method === 'NodeWorker.attachedToWorker') threads.set(params.workerInfo.title, params.sessionId)
  })
  const send = (method: string, params: object) => inspector.send(JSON.stringify({ id: 1, method, params }))
  send('NodeWorker.enable', { waitForDebuggerOnStart: false })
  const sessionId = await waitFor(() => {
    const found = [...threads].find(([title]) => title.includes(thread))
    if (!found) throw new Error(`no thread ${thread} among ${[...threads.keys()]}`)
    return found[1]
  })
  const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } })
  send('NodeWorker.sendMessageToWorker', { sessionId, message })
  inspector.close()
}
