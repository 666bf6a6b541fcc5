"""A planner for ROS 1 with the topics of move_base: it drives straight on until the base is at the x of a goal, in the frame odom.

It aborts a goal that is behind the base. Its action has millimetres as goals, because that is an action of actionlib itself.
"""

import actionlib
import rospy
from actionlib.msg import TestAction, TestActionGoal
from geometry_msgs.msg import PoseStamped, Twist
from nav_msgs.msg import Odometry

SPEED_MPS = 0.4

rospy.init_node("planner", anonymous=True)
velocity = rospy.Publisher("/cmd_vel", Twist, queue_size=1)
goals = rospy.Publisher("/move_base/goal", TestActionGoal, queue_size=1)
x = 0.0


def measure(message):
    global x
    x = message.pose.pose.position.x


def forward(message):
    goal = TestActionGoal()
    goal.header.stamp = rospy.Time.now()
    goal.goal.goal = round(message.pose.position.x * 1000)
    goals.publish(goal)


def drive(speed_mps):
    command = Twist()
    command.linear.x = speed_mps
    velocity.publish(command)


def execute(goal):
    if goal.goal / 1000 < x:
        server.set_aborted(text="It is behind me.")
        return
    rate = rospy.Rate(50)
    while x < goal.goal / 1000:
        if server.is_preempt_requested() or rospy.is_shutdown():
            drive(0)
            server.set_preempted()
            return
        drive(SPEED_MPS)
        rate.sleep()
    drive(0)
    server.set_succeeded()


rospy.Subscriber("/odom", Odometry, measure, queue_size=1)
server = actionlib.SimpleActionServer("/move_base", TestAction, execute, auto_start=False)
server.start()
rospy.Subscriber("/move_base_simple/goal", PoseStamped, forward, queue_size=1)
rospy.spin()
