#!/bin/sh
# The car around the unit, as its other control units speak on the bus: a body that locks and tells so, an engine that
# answers requests by ISO-TP, a speed from a recording, and noise.
mkdir -p /run/car
echo 00 >/run/car/locks
say_locks() { cansend vcan0 "200#$(cat /run/car/locks)"; }

while :; do
  say_locks 2>/dev/null
  sleep 0.5
done &

# BODY_COMMAND: the first byte asks for locked (1) or unlocked (2), and is what the body then does.
while :; do
  # Ends when the interface goes.
  candump -L vcan0,210:7FF 2>/dev/null | while read -r _ _ frame; do
    echo "actuated $frame" >/dev/console
    case "$frame" in
      210#01*) echo 01 >/run/car/locks ;;
      210#02*) echo 00 >/run/car/locks ;;
    esac
    say_locks
  done
  sleep 0.2
done &

# Parameter 68 is longer than a frame: the kernel sends it in several, when the agent says go on.
while :; do
  candump -L vcan0,7DF:7FF,7E0:7FF 2>/dev/null | while read -r _ _ frame; do
    case "$frame" in
      *#020100*) echo 41 00 00 00 00 01 | isotpsend -s 7E8 -d 7E0 vcan0 ;;
      *#020120*) echo 41 20 00 00 00 01 | isotpsend -s 7E8 -d 7E0 vcan0 ;;
      *#020140*) echo 41 40 00 00 00 01 | isotpsend -s 7E8 -d 7E0 vcan0 ;;
      *#020160*) echo 41 60 01 00 00 00 | isotpsend -s 7E8 -d 7E0 vcan0 ;;
      # Seven bytes of data: sensor 1 of bank 1, 23 °C.
      *#020168*) echo 41 68 01 3F 00 00 00 00 00 | isotpsend -s 7E8 -d 7E0 vcan0 ;;
    esac
  done
  sleep 0.2
done &

while :; do
  canplayer -I /opt/car/drive.log vcan0=vcan0 2>/dev/null
  sleep 0.2
done &

while :; do
  cangen vcan0 -g 10 -I 7A1 -L 8 2>/dev/null
  sleep 0.2
done &
wait
