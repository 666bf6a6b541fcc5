import { RobotLink } from '../../../packages/sdk/index.ts'

// A robot that ends once it has a data channel: node channel-robot.ts URL TOKEN

const [url = '', token = ''] = process.argv.slice(2)
const robot = new RobotLink({ url, token })
await robot.connect()
while (robot.transport !== 'data_channel') await new Promise((resolve) => setTimeout(resolve, 10))
await robot.close()
console.log('closed')
