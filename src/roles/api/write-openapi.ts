import { writeFileSync } from 'node:fs'
import { declaredEndpoints, STORED_BASE_URL } from './declared-endpoints.ts'
import { describeApi } from './openapi/document.ts'

// Writes the stored API description, docs/openapi.json. Needs no database.
const document = describeApi({ endpoints: declaredEndpoints(), baseUrl: STORED_BASE_URL })
writeFileSync(
  new URL('../../../docs/openapi.json', import.meta.url),
  `${JSON.stringify(document, null, 2)}\n`,
)
