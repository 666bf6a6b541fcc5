import { createInterface } from 'node:readline'
import {
  CHAT_BODY_MAX,
  ChatBody,
  ChatMessage,
  ClientMessageId,
  type SessionLogEvent,
} from '@wheelhouse/protocol'
import {
  answerOf,
  type HubClient,
  HubClosedError,
  NotConnectedError,
  UnacknowledgedError,
} from '@wheelhouse/sdk'
import { type Command, InvalidArgumentError } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { Failure } from './lib/failure.ts'
import { sessionId } from './lib/ids.ts'
import { integer } from './lib/options.ts'
import { styled } from './lib/text.ts'
import { clockOf } from './lib/views.ts'
import { isOver } from './watch/session-watch.ts'
import { eventText } from './watch/watch-text.ts'

const MAX_WAIT_S = 600

export const commands = { chat: declareChat }

/** Declares `wheelhouse chat`. */
function declareChat(command: Command, action: CreateAction): void {
  command
    .argument('<session>', 'its id, or a prefix of the id')
    .argument('[text...]', 'the message; - reads it from standard input')
    .option('--message-id <id>', 'makes a repetition safe: a message with the same id appears once')
    .option('--wait <seconds>', 'longest time to wait for the confirmation', waitS, 30)
    .option('--history <messages>', 'number of earlier messages to show first', integer(0, 10_000), 20)
    .action(action(chat))
}

function waitS(text: string): number {
  const seconds = Number(text)
  if (text.trim() === '' || !(seconds > 0 && seconds <= MAX_WAIT_S)) {
    throw new InvalidArgumentError(`Enter a number of seconds up to ${MAX_WAIT_S}.`)
  }
  return seconds
}

/** Sends one message, or runs a conversation. A message counts as sent only when the platform has confirmed it. */
async function chat(cli: Context, idOrPrefix: string, words: string[], options: ChatOptions): Promise<void> {
  cli.identity.required()
  if (words.length === 0) {
    if (!cli.prompts.present || cli.out.json) {
      throw new Failure('usage', 'Enter a message, or - to read it from standard input')
    }
    return runConversation(cli, await sessionId(cli, idOrPrefix), options)
  }
  validateMessageId(options.messageId)
  const body = words.length === 1 && words[0] === '-' ? await fromStdin(cli) : words.join(' ')
  await sendOne(cli, await sessionId(cli, idOrPrefix), validateMessage(body), options)
}

async function sendOne(cli: Context, session: string, body: string, options: ChatOptions): Promise<void> {
  const ended = Promise.withResolvers<never>()
  ended.promise.catch(() => {})
  const leave = () => ended.reject(cli.signal.reason)
  cli.signal.addEventListener('abort', leave, { once: true })
  const hub = cli.hub({ onClosed: (reason) => ended.reject(reason.cause ?? reason) })
  try {
    cli.signal.throwIfAborted()
    hub.connect().catch(() => {}) // reported through onClosed
    const sent = hub.sendChat(session, body, options.messageId, { timeoutMs: options.wait * 1_000 })
    const message = await Promise.race([sent, ended.promise])
    cli.out.result(message, () => cli.out.note(`sent, number ${message.seq} in the log`))
  } catch (cause) {
    throw cause instanceof UnacknowledgedError || cause instanceof NotConnectedError
      ? notConfirmed(options, cause)
      : cause
  } finally {
    cli.signal.removeEventListener('abort', leave)
    hub.close()
  }
}

/** Returns the failure for a message without a confirmation in time. */
function notConfirmed({ wait, messageId }: ChatOptions, cause: Error): Failure {
  const retryHint = messageId
    ? 'Try again with the same --message-id: the message appears once.'
    : 'The message may or may not have arrived. A repetition is only safe with --message-id.'
  return new Failure(
    'unreachable',
    `The platform has not confirmed the message within ${wait} s. ${retryHint}`,
    { cause },
  )
}

/** Reads standard input, up to the length of a message. */
async function fromStdin({ terminal, signal }: Context): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  const leave = () => terminal.stdin.destroy()
  signal.addEventListener('abort', leave, { once: true })
  try {
    for await (const chunk of terminal.stdin) {
      text += decoder.decode(chunk as Buffer, { stream: true })
      if (text.length > CHAT_BODY_MAX * 2) break
    }
    return text + decoder.decode()
  } catch (cause) {
    signal.throwIfAborted()
    throw new Failure('usage', 'Standard input must be UTF-8 text', { cause })
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** Runs a chat at a terminal: each line is a message, and new entries appear above. Ends with Ctrl-D or the session. */
async function runConversation(cli: Context, session: string, options: ChatOptions): Promise<void> {
  const { out, terminal, signal } = cli
  const after = await startOf(cli, session, options.history)
  const ended = Promise.withResolvers<void>()
  ended.promise.catch(() => {})
  const hub = cli.hub({
    onConnected: () => printAbove(() => out.note(styled('dim', 'connected'))),
    onDisconnected: () => printAbove(() => out.note(styled('dim', 'connection lost, reconnecting …'))),
    onClosed: (reason) => ended.reject(reason.cause ?? reason),
  })
  const lines = createInterface({ input: terminal.stdin, output: terminal.stdout, prompt: '> ' })
  /** Writes above the line that the user types. */
  const printAbove = (write: () => void) => {
    out.raw('\r\u001b[K')
    write()
    lines.prompt(true)
  }
  lines.on('line', (text) => sendLine(text))
  lines.on('close', () => ended.resolve())
  // In raw mode the terminal sends Ctrl-C as a key.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  const leave = () => ended.resolve()
  signal.addEventListener('abort', leave, { once: true })

  const sendLine = (text: string) => {
    if (text.trim() === '') return lines.prompt()
    send(hub, session, text, options).then(
      (seq) => printAbove(() => out.note(styled('dim', `✓ sent, number ${seq}`))),
      (cause) => printAbove(() => out.notice(styled('red', `✗ ${failureText(cause)}: ${text}`))),
    )
  }
  const onEvent = (event: SessionLogEvent) => {
    printAbove(() => out.line(styled('dim', `${clockOf(event.at)}  `), textOf(event)))
    if (event.type !== 'chat.message' && isOver(event.data.status)) ended.resolve()
  }
  try {
    hub.watch(session, { onEvent }, { after }).catch((cause) => ended.reject(cause))
    hub.connect().catch(() => {}) // reported through onClosed
    lines.prompt()
    await ended.promise
  } finally {
    signal.removeEventListener('abort', leave)
    lines.close()
    hub.close()
    out.raw('\n')
  }
  signal.throwIfAborted()
}

async function send(hub: HubClient, session: string, text: string, { wait }: ChatOptions): Promise<number> {
  const timeoutMs = wait * 1_000
  const { seq } = await hub.sendChat(session, validateMessage(text), undefined, { timeoutMs })
  return seq
}

/** Returns the number of the log entry before the last `history` messages. @throws ApiError */
async function startOf(cli: Context, session: string, history: number): Promise<number> {
  const path = { id: session }
  let after = 0
  const seqs: number[] = []
  while (true) {
    const query = { after, limit: 100 }
    const page = await answerOf(cli.rest.GET('/api/sessions/{id}/messages', { params: { path, query } }))
    seqs.push(...page.messages.map(({ seq }) => seq))
    if (page.messages.length < query.limit) break
    after = page.messages.at(-1)?.seq ?? after
  }
  const first = history === 0 ? undefined : (seqs.at(-history) ?? seqs[0])
  return first === undefined ? (seqs.at(-1) ?? 0) : first - 1
}

function textOf({ type, data }: SessionLogEvent): string {
  const message = type === 'chat.message' ? ChatMessage.safeParse(data).data : undefined
  return message ? `${message.sender_name}: ${message.body}` : `· ${eventText({ event: type, data })}`
}

interface ChatOptions {
  readonly messageId?: string
  /** Longest time to wait for the confirmation, in seconds. */
  readonly wait: number
  readonly history: number
}

/** Returns the text without a final line break. @throws Failure for an invalid message */
function validateMessage(text: string): string {
  const body = ChatBody.safeParse(text.replace(/\r?\n$/, ''))
  if (body.success) return body.data
  throw new Failure('usage', `A message must have 1 to ${CHAT_BODY_MAX} characters, and not only spaces`)
}

/** Returns the id unchanged. @throws Failure for an invalid id */
function validateMessageId(id: string | undefined): string | undefined {
  if (id === undefined || ClientMessageId.safeParse(id).success) return id
  throw new Failure('usage', 'The --message-id must have 1 to 100 printable ASCII characters.')
}

/** Returns the failure of one message in a few words. */
function failureText(cause: unknown): string {
  if (cause instanceof UnacknowledgedError || cause instanceof NotConnectedError) {
    return 'not confirmed: the message may or may not have arrived'
  }
  if (cause instanceof HubClosedError) return 'the connection is closed'
  return cause instanceof Error ? cause.message : String(cause)
}
