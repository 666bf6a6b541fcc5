import { createInterface } from 'node:readline'
import { ChatMessage, type SessionLogEvent } from '@wheelhouse/protocol'
import { answerOf, type HubClient } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { styled } from '../text.ts'
import { clockOf, eventText } from '../watch/event-text.ts'
import { isOver } from '../watch/watch-event.ts'
import { type ChatOptions, failureText, validateMessage } from './message.ts'

/** Runs a chat at a terminal: each line is a message, and new entries appear above. Ends with Ctrl-D or the session. */
export async function runConversation(cli: Context, session: string, options: ChatOptions): Promise<void> {
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
