export { jobEndpoints } from './job.routes.ts'
export { createJobControl } from './job-control.ts'
export { registerQueueMetrics } from './queue-metrics.ts'
