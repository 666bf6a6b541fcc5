import { z } from 'zod'

/**
 * @internal Ids in the examples of the REST API's description.
 *
 * All examples describe one session: Ada owns a robot arm in a warehouse, Grace drives it for half an hour on the
 * morning of 20 November 2026, and Ada rates the session.
 */
export const exampleIds = {
  client: '7c9a2d54-3e61-4b0f-8d27-5a1c6f9e0b34',
  operator: 'd21f6b80-94c3-4e7a-b5d8-0f3a7e62c915',
  admin: '3a5e8c07-1b94-4d62-9f30-6e7d2b8a4c51',
  robot: '0b8f4c1e-6a57-4f0e-9a3d-2c5e7d9b1f42',
  session: 'c4e71a92-58d0-4f3b-a6e9-1d8b7c205f63',
  message: '9e0d3b76-2fa8-4c15-8b4e-70c6a1f5d928',
  extension: '61b7f0c3-d45a-4e98-87c2-b93e0a6d1f74',
  certification: 'a83c5d19-07e6-4b2f-96d1-4f8e2c7b0a35',
  dataset: 'f5920e8b-c61d-47a3-8e04-d7b1a95c3f26',
  episode: '18d6a4f7-b305-4c9e-a27f-8c50e3d1b964',
  invoice: 'e07b29c5-6d8f-41a4-b3e2-95f0c7a86d13',
  apiKey: '4b6e1f93-a0c7-4d58-9e21-c3d85f7b0a6e',
  contactMessage: '2f94c8d0-e7b1-4a36-8c5d-0a9b6e3f7d12',
  robotRequest: 'b0d57e2a-49f6-4c83-a19e-6f2c8d4b7e05',
  event: '5d1c7e90-3b84-4f62-a7d9-e20f6c8b4a17',
  webhook: '8a42f6d3-c05b-4917-9e6c-71d3b0f85e24',
  sessionExport: 'c2e91f60-7a4d-4b38-95e0-1d6f83b7a204',
  recording: '6e2f9b40-81d5-4c7a-b396-f04a7d1e58c2',
  recordingStream: 'be58f1c3-207d-4e96-a4b1-5c93d60e7f28',
  recordingShare: '47a0d9e6-5b3c-4f18-92e7-c6d18f04b35a',
  bookmark: '0d93b7f5-e42a-4816-8fc0-7b5e29a16d84',
  datasetExport: 'a17c46d0-f38e-4b95-8d21-09e5b7c3f462',
  job: '7f3d1a86-e25b-4c09-b8d4-90a6e1c7f352',
  pushSubscription: '93c5e7a1-4f0d-4b68-a2d9-58e17c3b6f40',
  organization: '2b7e4f90-c18d-4a63-9f52-e0d6b3a81c74',
  group: 'e4c09a71-5d2f-4b86-83ea-9f17d0c6b253',
  invitation: '6a18f3d5-90be-4c27-b74d-c5e2086f9a31',
  serviceAccount: '95e0b2c8-7f41-4d3a-a86c-1b9d4e7f0635',
  dataGrant: '3f0d8b62-c97e-4a15-b4e8-2d71f6a90c53',
  dataExport: '81e5c3a7-0d96-4f2b-9b18-7c40e6d2f5a9',
  scimToken: '3c81f6a0-d95b-4e27-8b14-a60f72e9c3d5',
  roleMapping: 'f84d2b19-6e70-4a5c-93c8-1e07b5d3a692',
  domain: '50e9c7b3-2f16-48da-b7e4-c91d08f36a2b',
  delivery: 'd76b03e8-5f1a-4c92-8d47-2e90a6c3f1b5',
} as const

/** @internal Returns the schema of an id, with the id of that resource as its example. */
export const idOf = (resource: keyof typeof exampleIds) => z.uuid().meta({ examples: [exampleIds[resource]] })
