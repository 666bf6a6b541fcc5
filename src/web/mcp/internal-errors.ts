import { type McpServer, ProtocolErrorCode } from '@modelcontextprotocol/server'

type Connect = McpServer['server']['connect']
type Transport = Parameters<Connect>[0]
type Message = Parameters<Transport['send']>[0]

/**
 * Hides the messages of unexpected exceptions from the caller: the library sends the text of every exception. Errors
 * of the platform have the status of the REST response and keep their text.
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
