/** Loaded when an owner chooses a URDF, because the page needs no parser of XML otherwise. */
import { controlSchemaOfUrdf, MAX_URDF_CHARS, telemetrySchemaOfUrdf, UrdfError } from '@wheelhouse/sdk'
import { t } from '../texts/texts.ts'

/**
 * Reads a URDF file in the browser. Returns the control and the telemetry schema of its joints.
 * @throws Error with a text for the owner; `UrdfError` names the line
 */
export async function readUrdfFile(file: File) {
  // Before reading: a file may be larger than the memory of the page.
  if (file.size > MAX_URDF_CHARS)
    throw new Error(t('robots.urdf.tooLarge', { limit_mib: MAX_URDF_CHARS / 1024 ** 2 }))
  const xml = await file.text()
  try {
    return { control: controlSchemaOfUrdf(xml), telemetry: telemetrySchemaOfUrdf(xml) }
  } catch (cause) {
    if (!(cause instanceof UrdfError)) throw cause
    throw new Error(t('robots.urdf.refused', { problem: cause.message }), { cause })
  }
}
