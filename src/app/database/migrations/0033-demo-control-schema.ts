import { Migration } from '@mikro-orm/migrations'

/** Declares the commands of the simulated robot of the demo and the SDK. */
export class Migration0033DemoControlSchema extends Migration {
  override name = '0033_demo_control_schema'

  override up(): void {
    const schema = JSON.stringify({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        linear_mps: { type: 'number', minimum: -1, maximum: 1, 'x-unit': 'm/s', 'x-speed': true },
        angular_radps: { type: 'number', minimum: -1.5, maximum: 1.5, 'x-unit': 'rad/s', 'x-speed': true },
      },
    })
    this.addSql(`update "robot_models" set "control_schema" = '${schema}' where "id" = 'diffdrive-demo'`)
  }
}
