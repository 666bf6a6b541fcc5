import { CHAT_BODY_MAX, ChatBody, ClientMessageId } from '@wheelhouse/protocol'
import { HubClosedError, NotConnectedError, UnacknowledgedError } from '@wheelhouse/sdk'
import { Failure } from '../failure.ts'

export interface ChatOptions {
  readonly messageId?: string
  /** Seconds. */
  readonly wait: number
  readonly history: number
}

/** The text without the line break at its end. @throws Failure for what is no message */
export function validateMessage(text: string): string {
  const body = ChatBody.safeParse(text.replace(/\r?\n$/, ''))
  if (body.success) return body.data
  const limit = `a message has 1 to ${CHAT_BODY_MAX} characters, and not only spaces`
  throw new Failure('usage', `This cannot be sent: ${limit}`)
}

/** The id that makes a repetition safe. @throws Failure for what is none */
export function validateMessageId(id: string | undefined): string | undefined {
  if (id === undefined || ClientMessageId.safeParse(id).success) return id
  throw new Failure('usage', 'A --message-id has up to 100 printable ASCII characters.')
}

/** What went wrong with one message of a conversation, in a few words. */
export function failureText(cause: unknown): string {
  if (cause instanceof UnacknowledgedError || cause instanceof NotConnectedError) {
    return 'not confirmed: it may or may not be there'
  }
  if (cause instanceof HubClosedError) return 'the connection is closed'
  return cause instanceof Error ? cause.message : String(cause)
}
