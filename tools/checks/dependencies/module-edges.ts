/** Says which modules a module may import, through their index.ts. At most 16 edges, without a cycle. */
export const moduleEdges: Readonly<Record<string, readonly string[]>> = {
  admin: ['identity', 'operators'],
  clients: ['sessions', 'video'],
  datasets: ['recordings'],
  notifications: ['identity'],
  operators: ['billing', 'identity', 'robots', 'sessions'],
  payments: ['billing', 'identity'],
  presence: ['sessions'],
  sessions: ['billing', 'identity', 'robots'],
}

export const MAX_MODULE_EDGES = 16
