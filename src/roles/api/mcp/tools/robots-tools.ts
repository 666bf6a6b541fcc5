import type { ToolSpec } from './tool.ts'

/** Tools for robots: those of the caller, and available robots. */
export const robotTools: readonly ToolSpec[] = [
  {
    name: 'list_robots',
    title: 'List your robots',
    route: 'GET /api/client/robots',
    listField: 'robots',
    limit: 10,
    omitted: ['cursor'],
    hidden: ['control_url', 'notes'],
  },
  { name: 'get_robot', title: 'Read a robot', route: 'GET /api/client/robots/{id}', id: 'robotId' },
  {
    name: 'register_robot',
    title: 'Register a robot',
    route: 'POST /api/client/robots',
    description:
      'Registers a robot of yours. Its token is not shown, because transcripts are not confidential: ' +
      'your user creates one in the console.',
    hidden: ['robot_token'],
  },
  {
    name: 'list_available_robots',
    title: 'List robots you may operate',
    route: 'GET /api/operator/available-robots',
    omitted: ['cursor', 'limit'],
    listField: 'robots',
  },
  {
    name: 'list_robot_models',
    title: 'List supported robot models',
    route: 'GET /api/robots',
    listField: 'models',
  },
]
