import { operatorTools, profileTools, reportTools, suspensionTools } from './account-tools.ts'
import { recordingTools } from './recording-tools.ts'
import { robotTools } from './robots-tools.ts'
import { sessionTools } from './session-tools.ts'
import type { ToolSpec } from './tool.ts'

/** Every tool, in list order. */
export const tools: readonly ToolSpec[] = [
  ...robotTools,
  ...sessionTools,
  ...recordingTools,
  ...reportTools,
  ...suspensionTools,
  ...operatorTools,
  ...profileTools,
]
