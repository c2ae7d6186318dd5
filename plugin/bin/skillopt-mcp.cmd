@echo off
rem A search of PATH by this language could start a program of the open project. The installer writes the whole path instead.
echo skillopt: run "npm install -g skillopt" and then "skillopt plugin install AGENT": it pins the program that this file starts. 1>&2
exit /b 127
