import { type ChildProcess, fork } from 'node:child_process'
import type { Guard } from './guard.ts'

const PING_MS = 1_000
/** A child that has sent nothing during this many pings makes no progress, and is killed. */
const SILENT_PINGS = 5
/** The same before its first message: on a busy machine, loading its libraries takes long. */
const SILENT_PINGS_AT_START = 30
/** Messages on their way to the other process. Beyond it, messages that may be lost are dropped. */
const MAX_WAITING = 2_000
/** Beyond it the child is killed: it begins again with the present state. */
const MAX_WAITING_ALL = 10_000

type Ping = { readonly type: 'ping' }
type Pong = { readonly type: 'pong' }
interface Message {
  readonly type: string
}

/** The link of a process to its child. */
export interface ChildLink<To extends Message> {
  /**
   * Sends a message. Returns whether it is on its way: not after the end of the child, nor, for one that may be dropped, while
   * the child does not keep up.
   */
  send(message: To, options?: { mayDrop: boolean }): boolean
  readonly process: ChildProcess
}

/**
 * Starts a child process for work that may crash or hang. A child that answers no ping for five seconds is killed and counted:
 * a hung process would keep its clients connected and answer none of them.
 * @param program the module that the child runs; its first argument is `settings` as JSON
 * @param onEnd called once, when the child has ended or could not be started
 */
export function startChild<To extends Message, From extends Message>(options: {
  program: URL
  settings: object
  /** The prefix of its handlers' names. */
  name: string
  guard: Guard
  onMessage: (message: From) => void
  onEnd: (reason: string) => void
}): ChildLink<To> {
  const { program, settings, name, guard, onMessage, onEnd } = options
  const child = fork(program, [JSON.stringify(settings)], {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {}, // no secrets of the platform
  })
  let waiting = 0
  let silentPings = 0
  let allowedPings = SILENT_PINGS_AT_START
  let ended = false
  let killed = false

  const sent = guard.handler(`${name}:sent`, () => {
    waiting--
  })
  function kill(reason: string): void {
    killed = true
    guard.report(`${name}:hung`, new Error(reason))
    child.kill('SIGKILL') // a stopped process receives no other signal
  }
  function send(message: To | Ping, { mayDrop } = { mayDrop: false }): boolean {
    if (killed || ended || !child.connected || (mayDrop && waiting >= MAX_WAITING)) return false
    if (waiting >= MAX_WAITING_ALL) {
      kill(`${waiting} messages wait for the process. It is killed.`)
      return false
    }
    waiting++
    child.send(message, sent) // its result says only whether it waits, which `waiting` counts
    return true
  }
  const pings = guard.every(`${name}:ping`, PING_MS, () => {
    if (silentPings === allowedPings && !killed)
      kill(`The process has answered no ping for ${allowedPings} s. It is killed.`)
    silentPings++
    send({ type: 'ping' })
  })
  function end(reason: string): void {
    if (ended) return
    ended = true
    clearInterval(pings)
    onEnd(reason)
  }

  guard.on(child, 'message', `${name}:message`, (message: From | Pong) => {
    silentPings = 0
    allowedPings = SILENT_PINGS
    if (message.type !== 'pong') onMessage(message as From)
  })
  const onError = (cause: Error) => end(cause.message)
  const onExit = (code: number | null, signal: string | null) => end(`exit code ${code}, signal ${signal}`)
  // After an exception in between, the handler runs again: without it, the child would count as running forever.
  guard.on(child, 'error', `${name}:exit`, onError, onError)
  guard.on(child, 'exit', `${name}:exit`, onExit, onExit)
  return { send, process: child }
}

/**
 * Connects a child to its parent: answers pings, and ends this process when the parent has ended.
 * @returns a function that sends a message; one that may be dropped is, while the parent does not keep up
 */
export function connectToParent<To extends Message, From extends Message>(options: {
  /** The prefix of its handlers' names. */
  name: string
  guard: Guard
  onMessage: (message: From) => unknown
}): (message: To, options?: { mayDrop: boolean }) => void {
  const { name, guard, onMessage } = options
  let waiting = 0
  const posted = guard.handler(`${name}:posted`, () => {
    waiting--
  })
  function post(message: To | Pong, { mayDrop } = { mayDrop: false }): void {
    if (!process.connected) return // the process is about to end
    if (mayDrop && waiting >= MAX_WAITING) return
    waiting++
    process.send?.(message, posted)
  }
  if (!process.connected) process.exit() // the parent has ended while this process started
  guard.on(process, 'disconnect', `${name}:disconnect`, () => process.exit())
  guard.on(process, 'message', `${name}:request`, (message: From | Ping) => {
    if (message.type === 'ping') return post({ type: 'pong' })
    return onMessage(message as From)
  })
  return post
}
