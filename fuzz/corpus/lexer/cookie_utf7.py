# coding: utf-7
x = "+AOQ-"
