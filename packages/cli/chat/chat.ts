import { CHAT_BODY_MAX } from '@wheelhouse/protocol'
import { NotConnectedError, UnacknowledgedError } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { sessionId } from '../ids.ts'
import { type ChatOptions, validateMessage, validateMessageId } from './message.ts'

/** Sends one message, or runs a conversation. A message counts as sent only when the platform has confirmed it. */
export async function run(
  cli: Context,
  idOrPrefix: string,
  words: string[],
  options: ChatOptions,
): Promise<void> {
  cli.identity.required()
  if (words.length === 0) {
    if (!cli.prompts.present || cli.out.json) {
      throw new Failure('usage', 'Enter a message, or - to read it from standard input')
    }
    const { runConversation } = await import('./conversation.ts')
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
    {
      cause,
    },
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
