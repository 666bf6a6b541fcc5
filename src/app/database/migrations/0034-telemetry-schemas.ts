import { Migration } from '@mikro-orm/migrations'

const number = (unit: string) => ({ type: 'number', 'x-unit': unit })

/** Lets models and robots declare the telemetry that they send, and declares that of the simulated robot. */
export class Migration0034TelemetrySchemas extends Migration {
  override name = '0034_telemetry_schemas'

  override up(): void {
    this.addSql('alter table "robot_models" add column "telemetry_schema" jsonb null')
    this.addSql('alter table "robots" add column "telemetry_schema" jsonb null')
    const schema = JSON.stringify({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        pose: {
          type: 'object',
          'x-kind': 'pose',
          properties: { x_m: number('m'), y_m: number('m'), heading_rad: number('rad') },
          required: ['x_m', 'y_m', 'heading_rad'],
        },
        velocity: {
          type: 'object',
          'x-kind': 'velocity',
          properties: { linear_mps: number('m/s'), angular_radps: number('rad/s') },
          required: ['linear_mps', 'angular_radps'],
        },
        battery: { type: 'number', minimum: 0, maximum: 1, 'x-kind': 'battery' },
        nearest_obstacle: {
          type: 'object',
          'x-kind': 'obstacles',
          title: 'Nearest obstacle',
          properties: { distance_m: { ...number('m'), minimum: 0 }, bearing_rad: number('rad') },
          required: ['distance_m', 'bearing_rad'],
        },
        standing: { type: 'boolean', title: 'Halted' },
        bumped: { type: 'boolean' },
      },
      required: ['pose', 'velocity', 'battery'],
    })
    this.addSql(`update "robot_models" set "telemetry_schema" = '${schema}' where "id" = 'diffdrive-demo'`)
  }
}
