export { foxgloveEndpoints } from './foxglove.routes.ts'
export { createFoxgloveServer } from './foxglove-server.ts'
export { createFoxgloveTickets } from './foxglove-ticket.ts'
export { createSessionSource } from './session-source.ts'
