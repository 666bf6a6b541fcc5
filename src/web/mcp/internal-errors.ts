import { type McpServer, ProtocolErrorCode } from '@modelcontextprotocol/server'

type Connect = McpServer['server']['connect']
type Transport = Parameters<Connect>[0]
type Message = Parameters<Transport['send']>[0]

/**
 * Keeps what an unexpected exception says from the caller: the library answers with the text of whatever is thrown.
 * Errors of the platform carry the status that REST would have answered, and keep their text.
 */
export function hideInternalErrors({ server }: McpServer, report: (cause: unknown) => void): void {
  const connect: Connect = server.connect.bind(server)
  server.connect = (transport) => {
    const send: Transport['send'] = transport.send.bind(transport)
    transport.send = (message, options) => send(withoutInternalDetails(message, report), options)
    return connect(transport)
  }
}

function withoutInternalDetails(message: Message, report: (cause: unknown) => void): Message {
  if (!('error' in message) || message.error.code !== ProtocolErrorCode.InternalError) return message
  const { data } = message.error
  if (typeof data === 'object' && data !== null && 'status' in data) return message
  report(new Error(`An MCP request failed: ${message.error.message}`))
  return { ...message, error: { code: ProtocolErrorCode.InternalError, message: 'Internal error' } }
}
